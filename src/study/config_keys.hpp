#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pibinn::study {

/// What a person may want to know of one key of a configuration.
struct KeyInfo {
    std::string section;  ///< "problem", "model", "train", "train.stage"; empty for the first keys
    std::string name;
    std::string value;    ///< the default, as it is written in TOML; empty where there is none
    std::string example;  ///< otherwise a value that it may have
    std::string kinds;    ///< the kinds of problem that look at it; empty for all
    std::string help;
};

/// Every key that a configuration may hold, in the order of the sections. Made of the same lists
/// that read a configuration.
std::vector<KeyInfo> config_keys();

/// A configuration in TOML that says nothing but the defaults, each with its meaning. Keys without
/// a default stand as comments.
std::string default_config();

/// The setting that a word is the key of, such as "model.layers=10" of "layers" and "10"; without a
/// value, that of the default. Empty where no key has this name.
std::string setting_of(std::string_view word, std::string value);

}  // namespace pibinn::study
