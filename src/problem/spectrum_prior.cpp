#include "pibinn/spectrum_prior.hpp"

#include <vector>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "problem/complex_normal.hpp"
#include "problem/prior_rows.hpp"

namespace pibinn {

void require_prior(const SpectrumPrior& prior, std::size_t n) {
    if (prior.n == 0) fail_usage("spectra of 0 entries", "give at least one entry");
    if (!(prior.density > 0 && prior.density <= 1))
        fail_usage(fmt::format("density {} is not in (0, 1]", prior.density),
                   "give the share of non-zero entries, 0.05 for example");
    if (prior.nonzeros && (*prior.nonzeros == 0 || *prior.nonzeros > prior.n))
        fail_usage(fmt::format("{} of {} entries that are not zero", *prior.nonzeros, prior.n),
                   "give at least one, and at most all of them");
    if (n != 2 * prior.n)
        fail_usage(fmt::format("rows of {} numbers for spectra of {} entries", n, prior.n),
                   "a row holds a real and an imaginary part per entry");
}

void draw_row(const SpectrumPrior& prior, Stream& stream, std::span<float> row) {
    const auto draw = [&](std::size_t j) {
        const std::complex<double> value = complex_normal(stream, 1);
        row[j] = static_cast<float>(value.real());
        row[prior.n + j] = static_cast<float>(value.imag());
    };
    if (prior.nonzeros) {
        // Floyd: each entry is one that is not taken yet.
        std::vector<bool> taken(prior.n, false);
        for (std::size_t j = prior.n - *prior.nonzeros; j < prior.n; ++j) {
            std::size_t at = stream.below(static_cast<std::uint32_t>(j + 1));
            if (taken[at]) at = j;
            taken[at] = true;
            draw(at);
        }
        return;
    }
    bool any = false;
    for (std::size_t j = 0; j < prior.n; ++j)
        if (stream.bernoulli(prior.density)) {
            draw(j);
            any = true;
        }
    if (!any) draw(stream.below(static_cast<std::uint32_t>(prior.n)));
}

}  // namespace pibinn
