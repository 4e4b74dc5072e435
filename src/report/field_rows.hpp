#pragma once

#include <vector>

#include "report/field_report.hpp"

namespace pibinn {

/// Questions to the rows of the benchmark that its tables and its figures both ask.

using Snr = std::optional<double>;

std::string snr_words(const Snr& snr_db);             ///< "20 dB", "no noise"
std::string operator_words(const std::string& name);  ///< "signs" for "rademacher"
/// "FISTA, 100 iterations", "ALISTA [1]".
std::string row_words(const FieldRow& row);

/// In the order in which rows first have them.
std::vector<std::size_t> sizes_of(const FieldReport& report);
std::vector<std::string> operators_of(const FieldReport& report);
/// Of the networks of a size, deepest first; at one noise, or at any.
std::vector<std::size_t> depths_of(const FieldReport& report, std::size_t n);
std::vector<std::size_t> depths_of(const FieldReport& report, std::size_t n, const Snr& snr_db);
/// At which networks of a size and depth were judged, by rising ratio, which no noise ends.
std::vector<Snr> noises_of(const FieldReport& report, std::size_t n, std::size_t layers);
/// The noise at which networks of the first size have the most depths: times are told of it, too.
Snr usual_noise(const FieldReport& report);

/// A published figure of least error on this problem, or null.
const FieldRow* best_published(const FieldReport& report, std::size_t n, std::size_t layers,
                               const Snr& snr_db);

/// The place of a value among those seen so far, which gains it if it is new.
template <class T>
std::size_t place_of(std::vector<T>& seen, const T& value) {
    for (std::size_t i = 0; i < seen.size(); ++i)
        if (seen[i] == value) return i;
    seen.push_back(value);
    return seen.size() - 1;
}

}  // namespace pibinn
