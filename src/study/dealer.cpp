#include "study/dealer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pibinn::study {

namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenQuestions = std::chrono::milliseconds(1);
constexpr auto kBetweenReports = std::chrono::milliseconds(300);
constexpr auto kPatience = std::chrono::milliseconds(300);

}  // namespace

Dealer::Dealer(Communicator& ranks, std::vector<std::size_t> order, TrainingProgress& progress)
    : ranks_(ranks), progress_(progress), order_(std::move(order)) {
    if (!ranks_.several()) return;
    if (ranks_.first()) {
        server_ = std::thread([this] { serve(); });
        return;
    }
    local_ = progress_.sink();
    own_.emplace([this](const Progress& event) { return tell(event); }, progress_.total());
}

Dealer::~Dealer() {
    if (!server_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    server_.join();
}

bool Dealer::tell(const Progress& event) {
    bool go_on = local_(event);
    const auto now = Clock::now();
    if (now - told_ < kBetweenReports && go_on) return true;
    told_ = now;
    const ordered_json report{{"is", "progress"},
                              {"done", event.done},
                              {"restored", event.restored},
                              {"detail", event.detail}};
    return ranks_.ask(report.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) ==
               "go" &&
           go_on;
}

std::optional<std::size_t> Dealer::deal() {
    const std::lock_guard lock(mutex_);
    if (dealt_ == order_.size() || failure_ || progress_.stopped()) return {};
    return order_[dealt_++];
}

std::optional<std::size_t> Dealer::next() {
    if (ranks_.first()) return deal();
    if (own_->stopped()) return {};
    const std::string answer = ranks_.ask(ordered_json{{"is", "next"}}.dump());
    if (answer.empty()) return {};
    return std::stoul(answer);
}

void Dealer::finished(std::size_t number) {
    if (!ranks_.first()) ranks_.ask(ordered_json{{"is", "finished"}, {"number", number}}.dump());
}

bool Dealer::fail(const Error& error) {
    if (ranks_.first()) return false;
    const ordered_json report{{"is", "failed"},
                              {"kind", static_cast<int>(error.kind())},
                              {"message", error.message()},
                              {"hint", error.hint()}};
    ranks_.ask(report.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    own_->stop();
    return true;
}

std::string Dealer::answer(std::size_t rank, std::string_view question) {
    const ordered_json asked = ordered_json::parse(question);
    const std::string is = asked.at("is");
    if (is == "next") {
        const auto number = deal();
        return number ? std::to_string(*number) : "";
    }
    if (is == "progress") {
        ProgressSink& sink = sinks_[rank];  // only the server gets here
        if (!sink) sink = progress_.sink();
        const std::string detail = asked.at("detail");
        sink({"training", asked.at("done"), progress_.total(), detail, asked.at("restored")});
        return progress_.stopped() ? "stop" : "go";
    }
    const std::lock_guard lock(mutex_);
    if (is == "finished") elsewhere_.insert(asked.at("number").get<std::size_t>());
    if (is == "failed") {
        if (!failure_)
            failure_.emplace(
                static_cast<ErrorKind>(asked.at("kind").get<int>()),
                fmt::format("rank {}: {}", rank, asked.at("message").get<std::string>()),
                asked.at("hint").get<std::string>());
        progress_.stop();
    }
    if (is == "bye") {
        ++gone_;
        if (asked.at("stopped").get<bool>()) progress_.stop();
    }
    return "";
}

void Dealer::serve() {
    const auto fail = [this](const Error& error) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_.emplace(error);
        silent_ = true;
        progress_.stop();
    };
    try {
        serve_all();
    } catch (const Error& error) {
        fail(error);
    } catch (const std::exception& error) {
        fail(Error(ErrorKind::failed, error.what(), "run it again: what is finished is kept"));
    }
}

void Dealer::serve_all() {
    while (true) {
        const bool any = ranks_.answer(
            [this](std::size_t rank, std::string_view question) { return answer(rank, question); });
        {
            const std::lock_guard lock(mutex_);
            if (closing_ || gone_ + 1 == ranks_.size()) return;
        }
        if (!any) std::this_thread::sleep_for(kBetweenQuestions);
    }
}

std::set<std::size_t> Dealer::close() {
    if (!ranks_.several()) return {};
    if (!ranks_.first()) {
        ranks_.ask(ordered_json{{"is", "bye"}, {"stopped", own_->stopped()}}.dump());
        return {};
    }
    const auto start = Clock::now();
    for (bool said = false;;) {
        {
            const std::lock_guard lock(mutex_);
            if (gone_ + 1 == ranks_.size() || silent_) break;
        }
        if (!said && progress_.stopped() && Clock::now() - start > kPatience) {
            said = true;
            progress_.note("told to stop; waiting for the other ranks to save their trainings");
        }
        std::this_thread::sleep_for(kBetweenQuestions);
    }
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    server_.join();
    if (failure_) throw *failure_;
    return elsewhere_;
}

}  // namespace pibinn::study
