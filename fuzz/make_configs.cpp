#include <set>

#include "core/file.hpp"
#include "make_corpus.hpp"
#include "study/config_document.hpp"
#include "study/config_train.hpp"

namespace pibinn::fuzz {

namespace {

/// Every key with a value it may have, for libFuzzer to put anywhere.
std::string dictionary() {
    std::set<std::string> entries{"[problem]", "[model]", "[train]", "[[train.stage]]",    "[[",
                                  "]]",        "inf",     "nan",     "0x7fffffffffffffff", "1e308",
                                  "-1"};
    const auto add = [&](std::string_view section, const study::ConfigKey& key) {
        const std::string_view value = key.value.empty() ? key.example : key.value;
        const std::string prefix = section.empty() ? "" : std::string(section) + ".";
        entries.insert(std::string(key.name) + " = " + std::string(value));
        entries.insert("\n" + prefix + std::string(key.name) + " = ");
    };
    study::visit_config_keys(add);
    study::visit_train_keys(add);
    std::string text;
    for (const std::string& entry : entries) {
        text += '"';
        for (const char c : entry)
            text += c == '\n' ? std::string("\\x0a")
                              : (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
        text += "\"\n";
    }
    return text;
}

}  // namespace

void make_configs(const std::filesystem::path& f) {
    using namespace std::string_literals;
    write_file(place(f, "corpus/config/empty"), "");
    write_file(place(f, "corpus/config/problem"),
               "seed = 3\n[problem]\nm = 8\nn = 16\ndensity = 0.1\nnoise_std = 1e-3\n"
               "structure = \"repeated\"\nrepeat = 4\n[model]\nlayers = 3\n");
    write_file(place(f, "corpus/config/grid"),
               "[problem]\nm = 8\nn = 16\n[grid]\nmodel.layers = [2, 3]\n"
               "model.weights = [\"one-bit\", \"float\"]\n");
    write_file(place(f, "corpus/config/blocks"),
               "[problem]\nstructure = \"blocks\"\nblocks = [[4, 8], [2, 3]]\n"
               "support = [1, 5, 9]\n[model]\nweights = \"ternary\"\n");
    write_file(place(f, "corpus/config/arrays"),
               "[problem]\nkind = \"arrays\"\noperator = \"A.npy\"\nx = \"x.mat:x\"\n"
               "[train]\nrecipe = \"paper\"\nseeds = 2\n");
    write_file(place(f, "corpus/config/stages"),
               "[model]\nupdate = \"plain\"\nactivation = \"hard\"\n[train]\nbatch = 50\n"
               "[[train.stage]]\nname = \"pretrain\"\nepochs = 3\nlearning_rate = 1e-3\n"
               "projection = \"lazy\"\n");
    write_file(place(f, "corpus/config/set"), "[problem]\nm = 8\n\0problem.n=12"s);
    write_file(place(f, "dictionaries/config"), dictionary());

    write_file(place(f, "findings/config/line-breaks"), "\"a\\nb\\u001b[2J\" = 1\n");
    std::string deep = "a";
    for (int i = 0; i < 4000; ++i) deep += ".a";
    write_file(place(f, "findings/config/deep-keys"), deep + " = 1\n");
    write_file(place(f, "findings/config/deep-lists"),
               "a = " + std::string(4000, '[') + std::string(4000, ']') + "\n");
}

}  // namespace pibinn::fuzz
