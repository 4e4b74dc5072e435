// room: theory
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/model.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// What a recovered signal is measured by, of what is known without its truth.
enum class CheckMeasure {
    relative_residual,  ///< ||y - A c|| / ||y||
    residual,           ///< ||y - A c||
    length,             ///< ||c||
    nonzeros            ///< entries that are not zero
};
std::string_view to_string(CheckMeasure measure);

/// Beyond it a signal leaves the class that a calibration or a certificate speaks of.
struct CheckLimit {
    CheckMeasure measure = CheckMeasure::residual;
    double most = 0;
    bool proven = false;       ///< of a certificate: no signal of its class exceeds it
    double share = 0;          ///< of the signals of a calibration's kind that may exceed it
    double confidence = 1;     ///< that no larger share does
    std::size_t exceeded = 0;  ///< signals that did
};

/// Compares recovered signals with what the model's own calibration or certificate says of signals
/// of its class, a batch at a time:
///     RecoveryCheck check(model);
///     check.add(y, recoverer.coefficients(y, pool), pool);
///     std::cout << check.text();
/// A signal within the limits may still be of another kind; one beyond them hardly belongs to it.
class RecoveryCheck {
public:
    /// The model must outlive this. One that carries neither, or whose certificate proves nothing,
    /// is a usage error; a calibration of other weights is an input error.
    explicit RecoveryCheck(const Model& model);

    /// Coefficients are those of Recoverer::coefficients.
    void add(ConstBatchView y, ConstBatchView coefficients, ThreadPool& pool);

    /// Counts the signals that follow, as another check of the same model counted them: what its
    /// json() says.
    void append(const std::string& json);

    const std::vector<CheckLimit>& limits() const { return limits_; }
    std::size_t signals() const { return signals_; }
    std::size_t outside() const { return outside_; }  ///< signals beyond some limit
    /// Which these are, from 0 on; the first kMostRows of them.
    const std::vector<std::size_t>& rows() const { return rows_; }
    /// More signals are beyond a limit than chance allows of the calibration's own kind.
    bool another_kind() const;

    /// One sentence.
    std::string text() const;
    /// What `pibinn recover --check --json` writes, one object.
    std::string json() const;

    static constexpr std::size_t kMostRows = 10000;

private:
    void take_calibration();
    void take_certificate();

    const Model& model_;
    std::vector<CheckLimit> limits_;
    std::vector<std::string> unusable_;  ///< what the model carries and cannot be used, and why
    std::size_t signals_ = 0;
    std::size_t outside_ = 0;
    std::vector<std::size_t> rows_;
};

}  // namespace pibinn
