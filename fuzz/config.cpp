// A configuration in TOML, with or without a grid. What follows a zero byte is a value that is set
// over it.
#include "harness.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"
#include "study/grid.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(text.find('\0'), size);
    std::vector<std::string> sets;
    if (end < size) sets.emplace_back(text.substr(end + 1));
    const bool has_grid = text.substr(0, end).find("grid") != std::string_view::npos;
    return fuzz::survive([&] {
        const std::string file = fuzz::as_file(data, end);
        if (has_grid) {
            const study::Grid grid = study::read_grid(file);
            fuzz::require(grid.size() > 0, "a grid has cells");
            for (const std::size_t i : {std::size_t{0}, grid.size() - 1}) {
                grid.settings(i);
                grid.folder(i);
            }
        }
        const study::ConfigDocument document(file, sets, has_grid ? "grid" : "");
        study::Config config = study::read_config(document);
        study::read_train_config(document, config);
    });
}
