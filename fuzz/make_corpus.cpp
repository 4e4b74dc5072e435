// Writes the seeds of the fuzzers again: make_corpus FOLDER, where FOLDER is fuzz/ of the tree. To
// be run when a format changes; what it writes is part of the tree.
#include "make_corpus.hpp"

#include <cstdio>
#include <exception>

using namespace pibinn;

std::filesystem::path fuzz::place(const std::filesystem::path& folder, const char* name) {
    const std::filesystem::path file = folder / name;
    std::filesystem::create_directories(file.parent_path());
    return file;
}

int main(int count, char** words) {
    if (count != 2) {
        std::fprintf(stderr, "usage: %s FOLDER\n", words[0]);
        return 2;
    }
    try {
        fuzz::make_arrays(words[1]);
        fuzz::make_pictures(words[1]);
        fuzz::make_models(words[1]);
        fuzz::make_checkpoints(words[1]);
        fuzz::make_configs(words[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make_corpus: error: %s\n", error.what());
        return 1;
    }
    return 0;
}
