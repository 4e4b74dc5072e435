#include "core/mpi/ordered_sum.hpp"

#include "pibinn/error.hpp"

namespace pibinn::mpi {

namespace {
constexpr int kChainTag = 7, kSumTag = 8;

int count(std::span<const float> numbers) { return static_cast<int>(numbers.size()); }
}  // namespace

ChainSum::ChainSum(Calls& calls, MPI_Comm comm, std::vector<SumPiece> pieces, std::size_t adding,
                   Communicator::AddOwn add)
    : calls_(calls),
      comm_(comm),
      pieces_(std::move(pieces)),
      add_(std::move(add)),
      last_(static_cast<int>(adding) - 1),
      ready_(pieces_.size(), 0),
      received_(pieces_.size(), MPI_REQUEST_NULL),
      sent_(pieces_.size(), MPI_REQUEST_NULL),
      shared_(pieces_.size(), MPI_REQUEST_NULL) {
    ensure(adding > 0, "a sum of something");
    MPI_Comm_rank(comm_, &rank_);
    adds_ = rank_ <= last_;
    if (!adds_ || rank_ == 0) return;
    const std::lock_guard lock(calls_.mutex());
    // Messages between two ranks keep their order, so that all pieces may have one tag.
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        check(MPI_Irecv(pieces_[i].numbers.data(), count(pieces_[i].numbers), MPI_FLOAT, rank_ - 1,
                        kChainTag, comm_, &received_[i]),
              "receive a sum");
}

bool ChainSum::done(MPI_Request& request) {
    return request == MPI_REQUEST_NULL || calls_.test(request);
}

void ChainSum::ready(std::size_t piece) {
    const std::lock_guard lock(mutex_);
    ready_[piece] = 1;
}

void ChainSum::add_some() {
    for (; adds_ && added_ < pieces_.size(); ++added_) {
        const std::size_t i = added_;
        if (ready_[i] == 0 || !done(received_[i])) return;
        add_(i, rank_ == 0);
        if (rank_ == last_) continue;
        const std::lock_guard lock(calls_.mutex());
        check(MPI_Isend(pieces_[i].numbers.data(), count(pieces_[i].numbers), MPI_FLOAT, rank_ + 1,
                        kChainTag, comm_, &sent_[i]),
              "pass a sum on");
    }
}

void ChainSum::share_some() {
    for (; handed_ < pieces_.size(); ++handed_) {
        const std::size_t i = handed_;
        if (adds_ && (i >= added_ || !done(sent_[i]))) return;
        share(i);
    }
}

void ChainSum::share(std::size_t i) {
    const std::span<float> sum = pieces_[i].numbers;
    const int to = static_cast<int>(pieces_[i].to.value_or(0));
    const std::lock_guard lock(calls_.mutex());
    if (!pieces_[i].to)
        check(MPI_Ibcast(sum.data(), count(sum), MPI_FLOAT, last_, comm_, &shared_[i]),
              "share a sum");
    else if (to != last_ && rank_ == last_)
        check(MPI_Isend(sum.data(), count(sum), MPI_FLOAT, to, kSumTag, comm_, &shared_[i]),
              "hand on a sum");
    else if (to != last_ && rank_ == to)
        check(MPI_Irecv(sum.data(), count(sum), MPI_FLOAT, last_, kSumTag, comm_, &shared_[i]),
              "get a sum");
}

bool ChainSum::all_shared() {
    while (complete_ < handed_ && done(shared_[complete_])) ++complete_;
    return complete_ == pieces_.size();
}

void ChainSum::advance() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // another thread is at it
    add_some();
    share_some();
}

void ChainSum::finish() {
    Patience patience(calls_);
    const std::lock_guard lock(mutex_);
    while (true) {
        const std::size_t before = added_ + handed_ + complete_;
        add_some();
        share_some();
        if (all_shared()) return;
        if (added_ + handed_ + complete_ == before) patience.pause();
    }
}

}  // namespace pibinn::mpi
