#include "cli/training_bar.hpp"

namespace pibinn::cli {

ProgressSink TrainingBar::sink(std::uint64_t work, const std::string& label) {
    const std::lock_guard lock(mutex_);
    Part& part = parts_.emplace_back();
    return [this, &part, work, label](const Progress& progress) {
        const std::lock_guard inner(mutex_);
        part = {work * progress.done, work * progress.restored};
        Part sum;
        for (const Part& p : parts_) {
            sum.done += p.done;
            sum.restored += p.restored;
        }
        const std::string detail = label.empty() ? std::string(progress.detail)
                                                 : label + "  " + std::string(progress.detail);
        console_.progress({"training", sum.done, total_, detail, sum.restored});
        return !interrupt_.raised();
    };
}

void TrainingBar::note(std::string_view text) {
    const std::lock_guard lock(mutex_);
    console_.note(text);
}

std::uint64_t TrainingBar::done() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const Part& p : parts_) sum += p.done;
    return sum;
}

}  // namespace pibinn::cli
