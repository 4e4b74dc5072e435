#include "algebra/backend.hpp"

namespace pibinn {

std::vector<LinkBlock> link_blocks(const Structure& structure) {
    if (structure.kind() == StructureKind::mask)
        return {LinkBlock{structure.rows(), structure.cols(), structure.offsets(),
                          structure.row_indices()}};
    std::vector<LinkBlock> blocks;
    for (const Block& b : structure.diagonal()) blocks.push_back({b.rows, b.cols, {}, {}});
    return blocks;
}

}  // namespace pibinn
