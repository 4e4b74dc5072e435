#include "study/dealer.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>

#include <gtest/gtest.h>

namespace pibinn::study {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

/// Ranks that are threads of one process, as far as questions and answers go.
struct Talk {
    std::mutex mutex;
    std::condition_variable answered;
    std::string question;
    std::string answer;
    bool asked = false, ready = false;
};

class ThreadRank final : public Communicator {
public:
    ThreadRank(Talk& talk, std::size_t rank) : talk_(talk), rank_(rank) {}
    std::size_t rank() const override { return rank_; }
    std::size_t size() const override { return 2; }
    void broadcast(std::span<std::byte>, std::size_t) override {}
    void all_gather(std::span<const std::byte>, std::span<std::byte>) override {}
    void exchange(std::span<const std::span<const std::byte>>,
                  std::span<const std::span<std::byte>>) override {}
    void barrier() override {}
    std::unique_ptr<OrderedSum> ordered_sum(std::vector<SumPiece>, std::size_t, AddOwn) override {
        return nullptr;
    }
    std::string ask(std::string_view question) override {
        std::unique_lock lock(talk_.mutex);
        talk_.question = question;
        talk_.asked = true;
        if (!talk_.answered.wait_for(lock, kPatience, [&] { return talk_.ready; })) {
            ADD_FAILURE() << "nobody answers '" << question << "'";
            return "";
        }
        talk_.ready = false;
        return talk_.answer;
    }
    bool answer(const Answer& answer) override {
        const std::lock_guard lock(talk_.mutex);
        if (!talk_.asked) return false;
        talk_.answer = answer(1, talk_.question);
        talk_.asked = false;
        talk_.ready = true;
        talk_.answered.notify_one();
        return true;
    }
    std::unique_ptr<SharedFile> open_here(const std::filesystem::path&, bool) override {
        return nullptr;
    }
    void while_waiting(std::function<void()>) override {}
    [[noreturn]] void abort(int) noexcept override { std::abort(); }

private:
    Talk& talk_;
    std::size_t rank_;
};

/// Two ranks, the second of which does `other` with its dealer.
struct TwoRanks {
    template <class Other>
    TwoRanks(std::vector<std::size_t> order, ProgressSink listener, Other other)
        : progress(std::move(listener), 100),
          second([this, other] {
              TrainingProgress own({}, 100);
              Dealer its(one, {}, own);
              other(its);
              its.close();
          }),
          dealer(zero, std::move(order), progress) {}
    ~TwoRanks() { second.join(); }

    Talk talk;
    ThreadRank zero{talk, 0}, one{talk, 1};
    TrainingProgress progress;
    std::thread second;
    Dealer dealer;
};

TEST(Dealer, EveryNumberIsDealtOnceInItsOrder) {
    std::vector<std::size_t> there;
    TwoRanks ranks({4, 2, 7, 1}, {}, [&](Dealer& dealer) {
        while (const auto next = dealer.next()) {
            there.push_back(*next);
            dealer.finished(*next);
        }
    });
    // The other rank has dealt itself all, since this one takes nothing.
    const std::set<std::size_t> elsewhere = ranks.dealer.close();
    EXPECT_EQ(there, (std::vector<std::size_t>{4, 2, 7, 1}));
    EXPECT_EQ(elsewhere, (std::set<std::size_t>{1, 2, 4, 7}));
}

TEST(Dealer, ProgressOfAllRanksIsOne) {
    std::uint64_t most = 0;
    TwoRanks ranks(
        {},
        [&](const Progress& event) {
            most = std::max(most, event.done);
            return true;
        },
        [](Dealer& dealer) {
            dealer.progress().sink(2)({"training", 20, 50, "cell"});
        });
    ranks.dealer.progress().sink(1)({"training", 5, 50, ""});
    ranks.dealer.close();
    EXPECT_EQ(most, 45u);
}

TEST(Dealer, AStopOfRankZeroStopsTheOthers) {
    std::atomic<bool> went_on = true;
    TwoRanks ranks(
        {1, 2}, [](const Progress&) { return false; },
        [&](Dealer& dealer) {
            went_on = dealer.progress().sink(1)({"training", 1, 50, ""});
            EXPECT_FALSE(dealer.next());
        });
    ranks.dealer.close();
    EXPECT_FALSE(went_on);
    EXPECT_TRUE(ranks.progress.stopped());
}

TEST(Dealer, AnErrorOfAnotherRankIsThrownByRankZero) {
    TwoRanks ranks({1, 2}, {}, [](Dealer& dealer) {
        EXPECT_TRUE(dealer.fail(Error(ErrorKind::io, "cannot write 'x'", "make room")));
        // It still has something to save, and then says that it is gone.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    try {
        ranks.dealer.close();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        EXPECT_EQ(error.message(), "rank 1: cannot write 'x'");
        EXPECT_EQ(error.hint(), "make room");
    }
    EXPECT_FALSE(ranks.dealer.next());
}

}  // namespace
}  // namespace pibinn::study
