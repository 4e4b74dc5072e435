#pragma once

#include <vector>

#include "core/mpi/calls.hpp"
#include "pibinn/communicator.hpp"

namespace pibinn::mpi {

/// Every piece goes from rank to rank as a running sum, and from the last one to where its sum is
/// needed. Float32 sums depend on their order, and this order is that of one process.
class ChainSum final : public OrderedSum {
public:
    ChainSum(Calls& calls, MPI_Comm comm, std::vector<SumPiece> pieces, std::size_t adding,
             Communicator::AddOwn add);
    /// Only a sum that failed ends here with pieces on their way, and then the job ends too.
    ~ChainSum() override = default;

    void ready(std::size_t piece) override;
    void advance() override;
    void finish() override;

private:
    bool done(MPI_Request& request);
    /// Adds to the pieces whose turn it is, and passes them on.
    void add_some();
    /// Hands out the pieces that this rank has no more use for.
    void share_some();
    /// Sends the sum of a piece from the last rank to where it goes.
    void share(std::size_t piece);
    bool all_shared();

    Calls& calls_;
    MPI_Comm comm_;
    std::vector<SumPiece> pieces_;
    Communicator::AddOwn add_;
    int rank_ = 0, last_ = 0;
    bool adds_ = false;

    std::mutex mutex_;  ///< of the members below
    std::vector<char> ready_;
    std::vector<MPI_Request> received_, sent_, shared_;
    std::size_t added_ = 0;     ///< pieces that have gone on
    std::size_t handed_ = 0;    ///< pieces whose sum is on its way to all
    std::size_t complete_ = 0;  ///< pieces whose sum has arrived
};

}  // namespace pibinn::mpi
