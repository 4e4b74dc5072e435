#include "model/domain_json.hpp"

#include <cmath>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

using nlohmann::json;

constexpr const char* kDamaged = "the file is damaged or was not written by pibinn";

double number(const json& j, const char* key, const std::string& where) {
    const auto found = j.find(key);
    if (found == j.end() || !found->is_number() || !std::isfinite(found->get<double>()))
        fail_input(fmt::format("{}: '{}' of the domain is not a number", where, key), kDamaged);
    return found->get<double>();
}

std::string word(const json& j, const char* key, const std::string& where) {
    const auto found = j.find(key);
    if (found == j.end() || !found->is_string())
        fail_input(fmt::format("{}: '{}' of the domain is not a word", where, key), kDamaged);
    return found->get<std::string>();
}

}  // namespace

json domain_to_json(const SignalDomain& domain) {
    return {{"basis", to_string(domain.basis.kind())},
            {"patch", domain.patch},
            {"normalize", to_string(domain.normalize)},
            {"mean", domain.mean},
            {"deviation", domain.deviation},
            {"noise_std", domain.noise_std}};
}

SignalDomain domain_from_json(const json& j, std::size_t n, Matrix<float> psi,
                              const std::string& where) {
    SignalDomain domain;
    const BasisKind kind = parse_basis_kind(word(j, "basis", where));
    domain.normalize = parse_normalize(word(j, "normalize", where));
    domain.mean = number(j, "mean", where);
    domain.deviation = number(j, "deviation", where);
    domain.noise_std = number(j, "noise_std", where);
    if (!(domain.deviation > 0) || domain.noise_std < 0)
        fail_input(fmt::format("{}: a deviation of {} and noise of {} in the domain", where,
                               domain.deviation, domain.noise_std),
                   kDamaged);
    const auto patch = j.find("patch");
    if (patch == j.end() || !patch->is_number_unsigned() || patch->get<std::uint64_t>() > n ||
        (*patch != 0 && patch->get<std::uint64_t>() * patch->get<std::uint64_t>() != n))
        fail_input(
            fmt::format("{}: 'patch' of the domain does not fit signals of {} entries", where, n),
            kDamaged);
    domain.patch = patch->get<std::size_t>();
    if (kind == BasisKind::matrix) {
        domain.basis = Basis::from_matrix(std::move(psi), where);
        return domain;
    }
    // The table of a cosine basis has n x n numbers, more than a file of n columns may warrant.
    constexpr std::size_t longest = 1U << 14;
    if (kind != BasisKind::identity && n > longest)
        fail_input(fmt::format("{}: a basis {} of {} entries; at most {} are handled", where,
                               to_string(kind), n, longest),
                   "use shorter signals");
    try {
        domain.basis = Basis::named(kind, n);
    } catch (const Error& error) {
        fail_input(fmt::format("{}: {}", where, error.message()), kDamaged);
    }
    return domain;
}

}  // namespace pibinn
