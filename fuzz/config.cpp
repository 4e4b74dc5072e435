// A configuration in TOML. What follows a zero byte is a value that is set over it.
#include "harness.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(text.find('\0'), size);
    std::vector<std::string> sets;
    if (end < size) sets.emplace_back(text.substr(end + 1));
    return fuzz::survive([&] {
        const study::ConfigDocument document(fuzz::as_file(data, end), sets);
        study::Config config = study::read_config(document);
        study::read_train_config(document, config);
    });
}
