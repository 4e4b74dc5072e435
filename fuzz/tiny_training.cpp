#include "tiny_training.hpp"

namespace pibinn::fuzz {

TinyTraining::TinyTraining() {
    SyntheticSpec problem;
    problem.m = 3;
    problem.n = 5;
    problem.train = 8;
    problem.test = 4;
    problem.prior.density = 0.4;
    problem_ = make_synthetic(problem, 1, pool_);
    spec_.layers = 2;
    recipe_.name = "tiny";
    recipe_.batch = 4;
    recipe_.validation = 0.25;
    Stage real, one_bit;
    real.name = "float";
    real.epochs = 2;
    one_bit.name = "one-bit";
    one_bit.epochs = 2;
    one_bit.trains_scale = true;
    one_bit.projection = Projection::lazy;
    one_bit.scale = 0.1;
    recipe_.stages = {real, one_bit};
    backend_ = make_backend("cpu");
    trainer_ = std::make_unique<Trainer>(problem_, spec_, recipe_, 1, *backend_, pool_);
}

}  // namespace pibinn::fuzz
