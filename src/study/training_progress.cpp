#include "study/training_progress.hpp"

namespace pibinn::study {

ProgressSink TrainingProgress::sink(std::uint64_t work, const std::string& label) {
    const std::lock_guard lock(mutex_);
    Share& share = shares_.emplace_back();
    return [this, &share, work, label](const Progress& progress) {
        const std::lock_guard inner(mutex_);
        share = {work * progress.done, work * progress.restored};
        Share sum;
        for (const Share& s : shares_) {
            sum.done += s.done;
            sum.restored += s.restored;
        }
        const std::string detail = label.empty() ? std::string(progress.detail)
                                                 : label + "  " + std::string(progress.detail);
        if (listener_ && !listener_({"training", sum.done, total_, detail, sum.restored}))
            stopped_ = true;
        return !stopped_;
    };
}

void TrainingProgress::note(std::string_view text) {
    if (text.empty() || !listener_) return;
    const std::lock_guard lock(mutex_);
    if (!listener_({"training", 0, total_, {}, 0, text})) stopped_ = true;
}

std::uint64_t TrainingProgress::done() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const Share& s : shares_) sum += s.done;
    return sum;
}

bool TrainingProgress::stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
}

void TrainingProgress::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
}

}  // namespace pibinn::study
