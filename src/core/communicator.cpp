#include "pibinn/communicator.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/machine.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

[[noreturn]] void fail_alone() {
    fail_usage("one process has no other ranks to talk to", "start several by mpirun");
}

class Alone final : public Communicator {
public:
    std::size_t rank() const override { return 0; }
    std::size_t size() const override { return 1; }
    void broadcast(std::span<std::byte>, std::size_t) override {}
    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
        std::copy(own.begin(), own.end(), all.begin());
    }
    void exchange(std::span<const std::span<const std::byte>> out,
                  std::span<const std::span<std::byte>> in) override {
        std::copy(out[0].begin(), out[0].end(), in[0].begin());
    }
    void barrier() override {}
    std::unique_ptr<OrderedSum> ordered_sum(std::vector<SumPiece>, std::size_t, AddOwn) override {
        fail_alone();
    }
    std::string ask(std::string_view) override { fail_alone(); }
    bool answer(const Answer&) override { return false; }
    std::unique_ptr<SharedFile> open_here(const std::filesystem::path&, bool) override {
        fail_alone();
    }
    void while_waiting(std::function<void()>) override {}
    [[noreturn]] void abort(int code) noexcept override { std::_Exit(code); }
};

template <class T>
std::span<std::byte> bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

Communicator& alone() {
    static Alone process;
    return process;
}

std::string Communicator::broadcast_text(std::string_view own) {
    std::uint64_t length = own.size();
    broadcast(bytes_of(length), 0);
    std::string text(length, '\0');
    if (first()) std::copy(own.begin(), own.end(), text.begin());
    broadcast(std::as_writable_bytes(std::span(text)), 0);
    return text;
}

std::vector<std::string> Communicator::gather_texts(std::string_view own) {
    std::uint64_t length = own.size();
    std::vector<std::uint64_t> lengths(size());
    all_gather(bytes_of(length), std::as_writable_bytes(std::span(lengths)));
    const std::uint64_t most = *std::max_element(lengths.begin(), lengths.end());
    std::string padded(own);
    padded.resize(most);
    std::string all(most * size(), '\0');
    all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < size(); ++r) texts.push_back(all.substr(r * most, lengths[r]));
    return texts;
}

bool Communicator::any(bool own) {
    std::byte mine{own};
    std::vector<std::byte> all(size());
    all_gather(std::span(&mine, 1), all);
    return std::any_of(all.begin(), all.end(), [](std::byte b) { return b != std::byte{0}; });
}

std::unique_ptr<SharedFile> Communicator::open(const std::filesystem::path& path, bool writes) {
    std::unique_ptr<SharedFile> file;
    std::string problem, hint;
    try {
        file = open_here(path, writes);
    } catch (const Error& error) {
        problem = error.message();
        if (!first()) problem = fmt::format("rank {} on {}: {}", rank(), host_name(), problem);
        hint = error.hint();
    }
    const std::vector<std::string> problems = gather_texts(problem);
    const std::vector<std::string> hints = gather_texts(hint);
    for (std::size_t r = 0; r < size(); ++r)
        if (!problems[r].empty()) fail_io(problems[r], hints[r]);
    return file;
}

}  // namespace pibinn
