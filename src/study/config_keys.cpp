#include "study/config_keys.hpp"

#include <fmt/format.h>

#include "study/config.hpp"
#include "study/config_document.hpp"
#include "study/config_real.hpp"
#include "study/config_train.hpp"

namespace pibinn::study {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kCommentColumn = 28;

/// The meaning of a key behind its value, continued on lines of their own.
std::string commented(std::string line, const std::string& help) {
    std::string text;
    std::size_t at = 0;
    while (at < help.size() || text.empty()) {
        line.resize(std::max(line.size() + 1, kCommentColumn), ' ');
        line += "#";
        while (at < help.size()) {
            const std::size_t end = std::min(help.find(' ', at), help.size());
            if (line.size() + 1 + (end - at) > kWidth && !line.ends_with('#')) break;
            line += ' ';
            line.append(help, at, end - at);
            at = end + 1;
        }
        text += line + "\n";
        line.clear();
        if (at >= help.size()) break;
    }
    return text;
}

}  // namespace

std::vector<KeyInfo> config_keys() {
    std::vector<KeyInfo> keys;
    const auto add = [&](std::string_view section, const ConfigKey& key) {
        keys.push_back({std::string(section), std::string(key.name), std::string(key.value),
                        std::string(key.example), key.kinds.all() ? "" : key.kinds.text(),
                        key.help});
    };
    visit_config_keys(add);
    visit_train_keys(add);
    return keys;
}

std::string default_config() {
    std::string text =
        "# Every key of a configuration. Values are the defaults; keys behind a # have none.\n";
    std::string section;
    for (const KeyInfo& key : config_keys()) {
        const bool stage = key.section == "train.stage";
        if (key.section != section) {
            section = key.section;
            text += stage ? "\n# [[train.stage]]            # lists the stages of the recipe anew\n"
                          : fmt::format("\n[{}]\n", section);
        }
        const bool active = !key.value.empty() && !stage;
        const std::string help =
            key.kinds.empty() ? key.help : fmt::format("{} (of {})", key.help, key.kinds);
        text += commented(fmt::format("{}{} = {}", active ? "" : "# ", key.name,
                                      key.value.empty() ? key.example : key.value),
                          help);
    }
    return text;
}

std::string setting_of(std::string_view word, std::string value) {
    for (const KeyInfo& key : config_keys()) {
        if (key.name != word) continue;
        const std::string section = key.section == "train.stage" ? "train.stage.NAME" : key.section;
        if (value.empty()) value = key.value.empty() ? key.example : key.value;
        return fmt::format("{}{}{}={}", section, section.empty() ? "" : ".", key.name, value);
    }
    return {};
}

}  // namespace pibinn::study
