// Numbers as text.
#include "harness.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        const UserArray values =
            fuzz::read_both_ways(fuzz::array_format(".csv"), fuzz::as_file(data, size));
        fuzz::require(values.size() <= size, "no more numbers than bytes");
    });
}
