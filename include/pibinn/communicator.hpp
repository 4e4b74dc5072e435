// room: core
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pibinn {

/// A running sum of arrays over the ranks, in the order of the ranks, piece by piece. A piece that
/// is ready travels while others are still made.
class OrderedSum {
public:
    virtual ~OrderedSum() = default;
    /// What this rank adds to a piece is there. Any thread may say so, each piece once.
    virtual void ready(std::size_t piece) = 0;
    /// Passes on what can be passed on, without waiting.
    virtual void advance() = 0;
    /// Waits until every piece's sum is where it goes, and no piece is in use.
    virtual void finish() = 0;
};

/// What is summed as one message, and the rank that gets the sum; all ranks do where none is named.
struct SumPiece {
    std::span<float> numbers;
    std::optional<std::size_t> to = {};
};

/// A file that every rank has open.
class SharedFile {
public:
    virtual ~SharedFile() = default;
    virtual std::uint64_t size() const = 0;
    virtual void read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
    virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    /// What this rank wrote is on the disk, and the file is closed here.
    virtual void close() = 0;
};

/// The processes that work on one task, and what they say to each other. Each has a rank, from 0
/// on. Calls that "all ranks" make are made by every one of them in the same order. An error of the
/// transport is a `failed` error.
class Communicator {
public:
    virtual ~Communicator() = default;
    virtual std::size_t rank() const = 0;
    virtual std::size_t size() const = 0;
    bool first() const { return rank() == 0; }
    bool several() const { return size() > 1; }
    /// The ranks may round differently, as processors of two kinds do. Whoever joined them says so.
    bool mixed() const { return mixed_; }
    void set_mixed(bool mixed) { mixed_ = mixed; }

    /// All ranks: the bytes of rank `from` everywhere.
    virtual void broadcast(std::span<std::byte> bytes, std::size_t from) = 0;
    /// All ranks: as many bytes of each, in the order of the ranks.
    virtual void all_gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
    /// All ranks: `out[r]` goes to rank r, and what rank r has for this one comes into `in[r]`.
    /// Both know how much it is.
    virtual void exchange(std::span<const std::span<const std::byte>> out,
                          std::span<const std::span<std::byte>> in) = 0;
    virtual void barrier() = 0;

    /// All ranks: rank 0's text everywhere.
    std::string broadcast_text(std::string_view own);
    /// All ranks: the texts of all, in the order of the ranks.
    std::vector<std::string> gather_texts(std::string_view own);
    /// All ranks: whether any of them says yes.
    bool any(bool own);

    /// Adds what this rank has of a piece to the running sum there; `first` says that nothing is
    /// there yet.
    using AddOwn = std::function<void(std::size_t piece, bool first)>;
    /// All ranks: ranks [0, adding) each add to the pieces, which go round in their order. What
    /// ranks that do not get a sum have in its place is of no use. One sum at a time.
    virtual std::unique_ptr<OrderedSum> ordered_sum(std::vector<SumPiece> pieces,
                                                    std::size_t adding, AddOwn add) = 0;

    /// On other ranks than 0: asks rank 0, from any thread, and waits for the answer.
    virtual std::string ask(std::string_view question) = 0;
    /// On rank 0: answers the questions that are waiting. Whether there were any.
    using Answer = std::function<std::string(std::size_t rank, std::string_view question)>;
    virtual bool answer(const Answer& answer) = 0;

    /// All ranks: opens a file that is there, to read it or to write into it. Where one of them
    /// cannot, all fail with its error.
    std::unique_ptr<SharedFile> open(const std::filesystem::path& path, bool writes);

    /// Called every now and then while a rank waits for others.
    virtual void while_waiting(std::function<void()> call) = 0;
    /// Ends every rank at once, with this exit code.
    [[noreturn]] virtual void abort(int code) noexcept = 0;

private:
    /// What open() does on this rank.
    virtual std::unique_ptr<SharedFile> open_here(const std::filesystem::path& path,
                                                  bool writes) = 0;

    bool mixed_ = false;
};

/// One process that works alone.
Communicator& alone();

/// The ranks that this process was started with by mpirun or srun. Only once per process. Throws a
/// usage error where this build has no MPI.
std::unique_ptr<Communicator> start_mpi();

}  // namespace pibinn
