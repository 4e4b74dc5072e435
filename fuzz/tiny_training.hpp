#pragma once

#include <memory>
#include <string>

#include "algebra/backend.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "train/trainer.hpp"

namespace pibinn::fuzz {

/// A training of a few numbers: its checkpoints are small, and an epoch of it takes microseconds.
class TinyTraining {
public:
    TinyTraining();

    Trainer& trainer() { return *trainer_; }
    const Recipe& recipe() const { return recipe_; }
    ParameterLayout layout() const { return {spec_, problem_.op.structure()}; }
    /// Instead of what training_identity() would say, so that checkpoints in the tree stay readable
    /// when recipes gain fields.
    static std::string identity() { return R"({"seed":1,"training":"tiny"})"; }

private:
    ThreadPool pool_{1};
    Problem problem_;
    NetworkSpec spec_;
    Recipe recipe_;
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Trainer> trainer_;
};

}  // namespace pibinn::fuzz
