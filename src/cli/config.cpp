#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "study/config_keys.hpp"

namespace pibinn::cli {

void run_config(const Arguments& arguments) {
    CommandLine line("config",
                     "Prints every key of a configuration with its default and its meaning, as a "
                     "TOML file that can be changed and given to train, compare, sample and init.",
                     "pibinn config > my.toml");
    if (!line.parse(arguments)) return;
    const Console console(line.output());
    console.say(study::default_config());
    nlohmann::ordered_json keys = nlohmann::ordered_json::array();
    for (const study::KeyInfo& key : study::config_keys())
        keys.push_back({{"section", key.section},
                        {"key", key.name},
                        {"default", key.value},
                        {"example", key.example},
                        {"kinds", key.kinds},
                        {"help", key.help}});
    console.result({{"keys", keys}});
}

}  // namespace pibinn::cli
