// Replays stored inputs through a harness, without libFuzzer: part of `make test`.
//     replay_READER MUTATIONS CORPUS... -- FINDINGS...
// Every file of a corpus folder is valid and must be read. Every file of a findings folder did harm
// once: it may be read or refused, but the process must survive. MUTATIONS is how many changed
// copies of the corpus are tried too; they are the same in every run.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "core/file.hpp"
#include "harness.hpp"
#include "mutator.hpp"

extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t most,
                                                                     unsigned seed);

namespace {

using Folders = std::vector<std::filesystem::path>;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// What one file may take, whatever it claims.
constexpr double kMostSeconds = kSanitized ? 20 : 1;      // of the processor
constexpr unsigned kPatience = 120;                       // of the clock, then the process ends
constexpr long kMostMegabytes = kSanitized ? 1000 : 200;  // beyond what the process had
// A thread of a service may have no more stack.
constexpr std::size_t kStack = std::size_t{1} << (kSanitized ? 20 : 18);
constexpr std::size_t kMostBytes = std::size_t{1} << 16;  // of a changed file

/// Memory that was asked for at most so far, used or not.
long peak_megabytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmPeak:") {
            long kilobytes = 0;
            status >> kilobytes;
            return kilobytes / 1024;
        }
    return 0;
}

class Replay {
public:
    Replay(std::size_t mutations, Folders corpus, Folders findings)
        : mutations_(mutations), corpus_(std::move(corpus)), findings_(std::move(findings)) {}

    void run() {
        std::vector<std::string> seeds;
        each_file(corpus_, [&](const std::string& name, std::string bytes) {
            run_one(name, bytes, true);
            seeds.push_back(std::move(bytes));
        });
        each_file(findings_, [&](const std::string& name, const std::string& bytes) {
            run_one(name, bytes, false);
        });
        if (seeds.empty()) fail("the corpus", "it has no files");
        for (std::size_t i = 0; i < mutations_ && !seeds.empty(); ++i) {
            // Changes that are read add up, as those of a fuzzer do.
            std::string& seed = seeds[i % seeds.size()];
            const std::string changed = mutate(seed, static_cast<unsigned>(i + 1));
            run_one("change " + std::to_string(i + 1), changed, false);
            if (pibinn::fuzz::refusal.empty()) seed = changed;
        }
        std::printf("%zu read, %zu refused, %zu failed\n", read_, refused_, failed_);
    }
    bool passed() const { return failed_ == 0; }

private:
    template <class Visit>
    static void each_file(const Folders& folders, Visit&& visit) {
        Folders files;
        for (const auto& folder : folders)
            if (std::filesystem::is_directory(folder))
                for (const auto& entry : std::filesystem::directory_iterator(folder))
                    files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const auto& file : files) visit(file.filename().string(), pibinn::read_file(file));
    }

    static std::string mutate(const std::string& seed, unsigned number) {
        std::string bytes = seed;
        bytes.resize(kMostBytes);
        const auto change = LLVMFuzzerCustomMutator
                                ? LLVMFuzzerCustomMutator
                                : [](std::uint8_t* data, std::size_t size, std::size_t most,
                                     unsigned) { return LLVMFuzzerMutate(data, size, most); };
        bytes.resize(
            change(reinterpret_cast<std::uint8_t*>(bytes.data()), seed.size(), kMostBytes, number));
        return bytes;
    }

    void run_one(const std::string& name, const std::string& bytes, bool valid) {
        // Before the input: it is the last line where the process dies.
        std::printf("%s: %zu bytes: ", name.c_str(), bytes.size());
        std::fflush(stdout);
        const long before = peak_megabytes();
        const std::clock_t begin = std::clock();
        ::alarm(kPatience);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        ::alarm(0);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        const long grown = peak_megabytes() - before;
        const std::string& refusal = pibinn::fuzz::refusal;
        ++(refusal.empty() ? read_ : refused_);
        std::printf("%s\n", refusal.empty() ? "read" : refusal.c_str());
        if (grown > kMostMegabytes) fail(name, "it took " + std::to_string(grown) + " MB");
        if (seconds > kMostSeconds) fail(name, "it took " + std::to_string(seconds) + " s");
        if (valid && !refusal.empty()) fail(name, "a valid file is refused");
    }

    void fail(const std::string& name, const std::string& why) {
        ++failed_;
        std::printf("FAILED: %s: %s\n", name.c_str(), why.c_str());
    }

    std::size_t mutations_;
    Folders corpus_, findings_;
    std::size_t read_ = 0, refused_ = 0, failed_ = 0;
};

}  // namespace

int main(int count, char** words) {
    if (count < 3) {
        std::fprintf(stderr, "usage: %s MUTATIONS CORPUS... -- FINDINGS...\n", words[0]);
        return 2;
    }
    const std::vector<std::string> given(words + 2, words + count);
    const auto border = std::find(given.begin(), given.end(), "--");
    Replay replay(std::stoul(words[1]), Folders(given.begin(), border),
                  border == given.end() ? Folders{} : Folders(border + 1, given.end()));
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStack);
    const auto body = [](void* self) -> void* {
        static_cast<Replay*>(self)->run();
        return nullptr;
    };
    if (pthread_create(&thread, &attributes, body, &replay) != 0) return 1;
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return replay.passed() ? 0 : 1;
}
