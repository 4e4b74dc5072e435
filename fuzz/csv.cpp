// Numbers as text.
#include "harness.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        const Batch values = fuzz::array_format(".csv").read(fuzz::as_file(data, size), "");
        fuzz::require_finite(values);
        fuzz::require(values.size() <= size, "no more numbers than bytes");
    });
}
