#pragma once

#include <string>
#include <vector>

namespace pibinn::cli {

/// Text in aligned columns: the first to the left, the others to the right.
class Table {
public:
    explicit Table(std::vector<std::string> header);
    void add(std::vector<std::string> row);
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// 1234567 as "1,234,567".
std::string grouped(std::size_t number);

}  // namespace pibinn::cli
