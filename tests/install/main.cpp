// What a user of the installed library writes: measure a signal, and check the numbers by hand.
#include <cstdio>

#include "pibinn/operator.hpp"
#include "pibinn/thread_pool.hpp"
#include "pibinn/version.hpp"

int main() {
    pibinn::Matrix<float> a(2, 3);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) a(i, j) = static_cast<float>(3 * i + j + 1);
    const auto op = pibinn::Operator::from_dense(a);

    pibinn::Batch x(1, 3);
    x(0, 0) = 1;
    x(0, 2) = -1;
    pibinn::ThreadPool pool(2);
    const pibinn::Batch y = op.apply(x, pool);
    const pibinn::Batch back = op.adjoint(y, pool);

    const pibinn::Matrix<float> expected_y = [] {
        pibinn::Matrix<float> m(1, 2);
        m(0, 0) = 1 - 3;
        m(0, 1) = 4 - 6;
        return m;
    }();
    const bool right =
        y == expected_y && back(0, 0) == -10 && back(0, 1) == -14 && back(0, 2) == -18;
    const auto version = pibinn::version();
    std::printf("pibinn %.*s %s\n", static_cast<int>(version.size()), version.data(),
                right ? "measures" : "measures wrongly");
    return right ? 0 : 1;
}
