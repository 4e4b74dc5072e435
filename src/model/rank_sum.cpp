#include "model/rank_sum.hpp"

#include <algorithm>
#include <utility>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// Pieces of a megabyte: long enough that their number does not count, short enough that several are
// under way along a chain of ranks.
constexpr std::size_t kPiece = std::size_t{1} << 18U;

}  // namespace

RankSum::RankSum(Communicator& ranks, const LayerOwners& owners, std::size_t adding,
                 std::size_t passes, std::vector<DeviceParameters*> parts,
                 DeviceParameters& gradient, Backend& backend, ThreadPool& pool)
    : ranks_(ranks),
      parts_(std::move(parts)),
      gradient_(gradient),
      backend_(backend),
      pool_(pool),
      left_(gradient.layout().layers() + 1) {
    const ParameterLayout& layout = gradient.layout();
    for (std::size_t k = layout.layers(); k >= 1; --k) add_range(layout.weights(k), owners.of(k));
    add_range(layout.scalars(), {});
    first_piece_.push_back(pieces_.size());
    for (auto& left : left_) left = passes;
    const std::span<float> numbers = backend.on_host(gradient.all());
    ensure(!numbers.empty(), "a gradient in host memory");
    std::vector<SumPiece> sums;
    for (const Range& piece : pieces_)
        sums.push_back({numbers.subspan(piece.begin, piece.size), piece.to});
    sum_ = ranks.ordered_sum(std::move(sums), adding, [this](std::size_t piece, bool first) {
        add_own(pieces_[piece], first);
    });
}

void RankSum::add_range(ParameterLayout::Range range, std::optional<std::size_t> to) {
    first_piece_.push_back(pieces_.size());
    for (std::size_t at = 0; at < range.size; at += kPiece)
        pieces_.push_back({range.begin + at, std::min(kPiece, range.size - at), to});
}

void RankSum::add_own(const Range& range, bool first) {
    if (parts_.front() == &gradient_) return;  // the only shard
    std::vector<ConstBufferView> parts;
    const BufferView total = gradient_.all().part(range.begin, range.size);
    if (!first) parts.push_back(total);
    for (DeviceParameters* part : parts_)
        parts.push_back(std::as_const(*part).all().part(range.begin, range.size));
    backend_.sum(parts, total, pool_);
}

void RankSum::layer_done(std::size_t k) {
    if (--left_[k] > 0) return;
    const std::size_t at = gradient_.layout().layers() - k;
    for (std::size_t i = first_piece_[at]; i < first_piece_[at + 1]; ++i) sum_->ready(i);
    sum_->advance();
}

void RankSum::finish(std::vector<double>& losses, std::size_t begin, std::size_t end) {
    const std::size_t scalars = first_piece_[gradient_.layout().layers()];
    for (std::size_t i = scalars; i < pieces_.size(); ++i) sum_->ready(i);
    sum_->finish();
    // Each rank fills its own places and says which these are.
    std::vector<double> own(losses.size() + 2);
    own[0] = static_cast<double>(begin);
    own[1] = static_cast<double>(end);
    std::copy(losses.begin(), losses.end(), own.begin() + 2);
    std::vector<double> all(own.size() * ranks_.size());
    ranks_.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const double* from = all.data() + r * own.size();
        for (auto s = static_cast<std::size_t>(from[0]); s < static_cast<std::size_t>(from[1]); ++s)
            losses[s] = from[2 + s];
    }
}

}  // namespace pibinn
