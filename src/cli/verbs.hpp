#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pibinn::cli {

/// What stands on the command line after the verb.
using Arguments = std::vector<std::string>;

struct Verb {
    std::string_view name;
    std::string_view summary;
    void (*run)(const Arguments& arguments);
};

/// Every verb of the program, in the order in which `pibinn --help` lists them.
std::span<const Verb> all_verbs();

/// One line per verb: its function run_NAME, the word on the command line, and what it does.
#define PIBINN_VERBS(X)                                                                  \
    X(demo, "demo", "train on the embedded default problem, compare with other methods") \
    X(config, "config", "print every key of a configuration with its default")           \
    X(sample, "sample", "write the problem of a configuration as arrays")                \
    X(init, "init", "make the untrained network of a configuration")                     \
    X(train, "train", "train the network of a configuration")                            \
    X(compare, "compare", "train several weight kinds and structures, side by side")     \
    X(study, "study", "train every combination of values of a grid")                     \
    X(reproduce, "reproduce", "make the tables, figures and claims of the paper again")  \
    X(field, "field", "run the benchmark of the literature on sparse recovery")          \
    X(eval, "eval", "measure how well a model recovers known signals")                   \
    X(recover, "recover", "recover signals from measurements with a model")              \
    X(recover_image, "recover-image", "sense a photo patch by patch and recover it")     \
    X(solve, "solve", "recover signals with a reference solver instead of a model")      \
    X(certify, "certify", "say what the theory guarantees of a model")                   \
    X(inspect, "inspect", "show what a model is and the bits it stores")                 \
    X(export, "export", "write a model in another format")

#define PIBINN_DECLARE_VERB(function, name, summary) \
    void run_##function(const Arguments& arguments);
PIBINN_VERBS(PIBINN_DECLARE_VERB)
#undef PIBINN_DECLARE_VERB

}  // namespace pibinn::cli
