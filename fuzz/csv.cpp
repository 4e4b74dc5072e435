// Numbers as text: real ones, and every two columns as a complex one.
#include "harness.hpp"
#include "pibinn/complex_rows.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        const UserArray values =
            fuzz::read_both_ways(fuzz::array_format(".csv"), fuzz::as_file(data, size));
        fuzz::require(values.size() <= size, "no more numbers than bytes");
        if (values.cols() % 2 != 0) return;
        const Batch columns = values.to_float32();
        const Batch parts = UserArray(values).as_complex().split().to_float32();
        fuzz::require(interleave_complex(parts) == columns, "complex numbers keep their parts");
    });
}
