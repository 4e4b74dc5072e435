#include "cli/options.hpp"

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "study/config_document.hpp"

namespace pibinn::cli {

std::string today() {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

void ConfigOptions::add_to(CommandLine& line) {
    line_ = &line;
    line.takes_configuration();
    line.optional("CONFIG", file_, "TOML file; without it the embedded default", "FILE");
    line.optional("--set", sets_, "set a key over the file, such as problem.m=32", "KEY=VALUE");
    line.optional("--seed", seed_, "seed of everything random (1)", "N");
}

ConfigDocument ConfigOptions::document() const { return ConfigDocument(file_, sets_); }

Config ConfigOptions::load() const { return load(document()); }

Config ConfigOptions::load(const ConfigDocument& document) const {
    Config config = read_config(document);
    if (seed_) config.seed = *seed_;
    line_->require_other_json(config.problem.inputs());
    return config;
}

std::string ConfigOptions::words() const {
    std::string words;
    if (!file_.empty()) words += fmt::format(" {}", shell_word(file_));
    for (const std::string& set : sets_) words += fmt::format(" --set {}", shell_word(set));
    if (seed_) words += fmt::format(" --seed {}", *seed_);
    return words;
}

}  // namespace pibinn::cli
