#include "data/child_process.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

const ChildLimits kLimits{.memory = 16 << 20, .reply = 16 << 20, .cpu_seconds = 5, .seconds = 20};

void crash() { std::raise(SIGSEGV); }

void loop() {
    volatile bool forever = true;
    while (forever) {
    }
}

/// The error of work in a child, whose kind is that of bad input.
std::string refused(const ChildLimits& limits, const std::function<void(ChildAnswer&)>& work) {
    try {
        run_in_child(limits, "x.mat", work);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        return error.message();
    }
    ADD_FAILURE() << "no error";
    return "";
}

void expect_no_child() {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, AnswersWhatItsWorkWrites) {
    int changed = 0;
    ChildReply reply = run_in_child(kLimits, "x.mat", [&](ChildAnswer& answer) {
        changed = 1;
        answer.write(std::uint64_t{7});
        answer.write(std::vector<float>(1000, 0.5F).data(), 4000);
    });
    EXPECT_EQ(changed, 0) << "the child has memory of its own";
    EXPECT_EQ(reply.left(), 4008u);
    EXPECT_EQ(reply.read<std::uint64_t>(), 7u);
    std::vector<float> floats(1000);
    reply.read(floats.data(), 4000);
    EXPECT_EQ(floats, std::vector<float>(1000, 0.5F));
    EXPECT_THROW(reply.read<char>(), Error);
    expect_no_child();
}

TEST(ChildProcess, GivesTheErrorsOfItsWork) {
    EXPECT_EQ(refused(kLimits, [](ChildAnswer&) { fail_input("WHAT", "HINT"); }), "WHAT");
    EXPECT_EQ(refused(kLimits,
                      [](ChildAnswer& answer) {
                          answer.write(std::uint64_t{7});
                          fail_input("in the midst", "HINT");
                      }),
              "in the midst");
    try {
        run_in_child(kLimits, "x.mat", [](ChildAnswer&) { fail_io("WHAT", "HINT"); });
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        EXPECT_STREQ(error.what(), "WHAT; HINT");
    }
}

TEST(ChildProcess, ThatCrashesIsAnInputError) {
    for (void (*const end)() : {+[] { crash(); }, +[] { std::abort(); }, +[] { ::_exit(0); },
                                +[] { std::raise(SIGKILL); }, +[] { ::_exit(3); }}) {
        const std::string message = refused(kLimits, [&](ChildAnswer& answer) {
            answer.write(std::uint64_t{7});
            end();
        });
        EXPECT_NE(message.find("'x.mat' cannot be read"), std::string::npos) << message;
    }
    expect_no_child();
}

TEST(ChildProcess, ThatTakesTooLongIsEnded) {
    const auto begin = std::chrono::steady_clock::now();
    ChildLimits limits = kLimits;
    limits.seconds = 0.05;
    EXPECT_NE(refused(limits, [](ChildAnswer&) { loop(); }).find("not read within"),
              std::string::npos);
    EXPECT_NE(refused(limits, [](ChildAnswer&) { ::pause(); }).find("not read within"),
              std::string::npos);
    limits = kLimits;
    limits.cpu_seconds = 1;
    EXPECT_NE(refused(limits, [](ChildAnswer&) { loop(); }).find("not read within 1 s"),
              std::string::npos);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(passed.count(), 15);
    expect_no_child();
}

TEST(ChildProcess, TakesNoMoreMemoryThanItMay) {
    const auto take = [](std::size_t bytes) {
        return [bytes](ChildAnswer& answer) {
            std::vector<char> taken(bytes, 'x');
            answer.write(taken.data(), 1);
        };
    };
    EXPECT_NO_THROW(run_in_child(kLimits, "x.mat", take(8U << 20U)));
    EXPECT_NE(refused(kLimits, take(1U << 30U)).find("'x.mat' "), std::string::npos);
    const auto answer_much = [](ChildAnswer& answer) {
        const std::vector<char> piece(1U << 20U, 'x');
        for (int i = 0; i < 64; ++i) answer.write(piece.data(), piece.size());
    };
    EXPECT_NE(refused(kLimits, answer_much).find("claims more than"), std::string::npos);
}

TEST(ChildProcess, IsSilent) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    run_in_child(kLimits, "x.mat", [](ChildAnswer& answer) {
        std::fputs("out", stdout);
        std::fputs("err", stderr);
        std::fflush(stdout);
        answer.write('x');
    });
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(ChildProcess, WorksWhereTheProgramIgnoresItsChildren) {
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(run_in_child(kLimits, "x.mat", [](ChildAnswer& a) { a.write('x'); }).read<char>(),
              'x');
    EXPECT_NE(refused(kLimits, [](ChildAnswer&) { crash(); }), "");
    std::signal(SIGCHLD, before);
}

TEST(ChildProcess, RunsNoHandlerOfTheParent) {
    // Memory that both share.
    static int* handled = static_cast<int*>(
        ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(handled), MAP_FAILED);
    const auto before = std::signal(SIGSEGV, [](int) {
        *handled = 1;
        ::_exit(0);
    });
    EXPECT_NE(refused(kLimits, [](ChildAnswer&) { std::raise(SIGSEGV); }), "");
    std::signal(SIGSEGV, before);
    EXPECT_EQ(*handled, 0) << "the handler of the parent has run";
    ::munmap(handled, sizeof(int));
}

TEST(ChildProcess, HasNoneOfTheParentsFiles) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const auto tried = run_in_child(kLimits, "x.mat", [&](ChildAnswer& answer) {
                           answer.write(static_cast<int>(::write(ends[1], "x", 1)));
                       }).read<int>();
    EXPECT_EQ(tried, -1);
    EXPECT_EQ(::write(ends[1], "x", 1), 1) << "in the parent it is still open";
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(ChildProcess, CanBeStartedByManyThreadsWhileOthersAllocate) {
    std::atomic<bool> stop = false;
    std::thread allocating([&] {
        while (!stop) std::vector<std::vector<int>>(100, std::vector<int>(100));
    });
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; ++i) {
                ChildReply reply = run_in_child(kLimits, "x.mat", [&](ChildAnswer& answer) {
                    answer.write(static_cast<int>(std::string(1000, 'x').size()) + t + i);
                });
                if (reply.read<int>() == 1000 + t + i) ++right;
            }
        });
    for (std::thread& thread : threads) thread.join();
    stop = true;
    allocating.join();
    EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace pibinn
