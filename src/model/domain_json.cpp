#include "model/domain_json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "data/claims.hpp"
#include "data/json_fields.hpp"
#include "pibinn/error.hpp"
#include "problem/real_fft.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

constexpr const char* kDamaged = "the file is damaged or was not written by pibinn";

std::string_view numbers_word(const SignalDomain& domain) {
    return domain.measurement_rows().complex ? "complex" : "real";
}

}  // namespace

json domain_to_json(const SignalDomain& domain) {
    json j{{"basis", to_string(domain.basis.kind())},
           {"patch", domain.patch},
           {"normalize", to_string(domain.normalize)},
           {"mean", domain.mean},
           {"deviation", domain.deviation},
           {"noise_std", domain.noise_std}};
    if (domain.complex) j["complex"] = true;
    if (domain.complex_measurements) j["complex_measurements"] = true;
    if (domain.vectors > 1) j["vectors"] = domain.vectors;
    return j;
}

SignalDomain domain_from_json(const json& j, std::size_t m, std::size_t n, const ReadPsi& read_psi,
                              std::uint64_t file_bytes, const std::string& where) {
    const JsonFields fields(j, where);
    SignalDomain domain;
    const BasisKind kind = fields.choice("basis", parse_basis_kind);
    domain.normalize = fields.choice("normalize", parse_normalize);
    domain.mean = fields.number("mean");
    domain.deviation = fields.number("deviation");
    domain.noise_std = fields.number("noise_std");
    if (!(domain.deviation > 0) || domain.noise_std < 0)
        fail_input(fmt::format("{}: a deviation of {} and noise of {}", where, domain.deviation,
                               domain.noise_std),
                   kDamaged);
    const auto flag = [&](const char* key) { return fields.has(key) && fields.flag(key); };
    domain.complex = flag("complex");
    domain.complex_measurements = flag("complex_measurements");
    if (fields.has("vectors")) domain.vectors = fields.whole("vectors", 1, n);
    if (!domain.fits(m, n))
        fail_input(fmt::format("{}: rows of {} entries and {} measurements do not hold {} {} "
                               "vector(s)",
                               where, n, m, domain.vectors, numbers_word(domain)),
                   kDamaged);
    domain.patch = fields.whole("patch", 0, n);
    if (domain.patch != 0 && domain.patch * domain.patch != n)
        fail_input(fmt::format("{}: 'patch' is {}, which does not fit signals of {} entries", where,
                               domain.patch, n),
                   kDamaged);
    const std::size_t entries = domain.signal_rows().entries(n) / domain.vectors;  // of one vector
    if (kind == BasisKind::matrix) {
        domain.basis = Basis::from_matrix(read_psi(entries), where);
        return domain;
    }
    // The table of a cosine basis, and what a Fourier transform of a large prime works on.
    const double whole = static_cast<double>(entries) * static_cast<double>(entries);
    const double numbers = kind == BasisKind::dct ? whole
                           : kind == BasisKind::fourier
                               ? std::min(whole, static_cast<double>(fft_work(entries)))
                               : 0;
    if (numbers > 0)
        require_claim(sizeof(double) * numbers, claim_factor::rows, file_bytes,
                      fmt::format("{}: a basis {} of {} entries", where, to_string(kind), entries),
                      "use shorter signals, or the basis identity");
    domain.basis = fields.checked([&] { return Basis::named(kind, entries); });
    if (!domain.fits_basis(n))
        fail_input(fmt::format("{}: a basis {} of rows of {} {} numbers", where, to_string(kind), n,
                               numbers_word(domain)),
                   kDamaged);
    return domain;
}

}  // namespace pibinn
