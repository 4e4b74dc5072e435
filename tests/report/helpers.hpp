#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/contains.hpp"

namespace pibinn {

inline std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++found;
    return found;
}

/// As long as it lives, no program can be found by its name.
class WithoutPrograms {
public:
    WithoutPrograms() : path_(std::getenv("PATH") ? std::getenv("PATH") : "") {
        ::setenv("PATH", "/nonexistent", 1);
    }
    ~WithoutPrograms() { ::setenv("PATH", path_.c_str(), 1); }
    WithoutPrograms(const WithoutPrograms&) = delete;
    WithoutPrograms& operator=(const WithoutPrograms&) = delete;

private:
    std::string path_;
};

}  // namespace pibinn
