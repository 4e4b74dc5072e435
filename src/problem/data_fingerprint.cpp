#include "core/fingerprint.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

std::string data_fingerprint(const Problem& problem) {
    // The bytes of every array, shapes included.
    Fingerprint hash;
    const auto mix_batch = [&](const Batch& b) {
        const std::uint64_t shape[2] = {b.rows(), b.cols()};
        hash.mix(shape, sizeof shape);
        hash.mix(b.values());
    };
    hash.mix(problem.op.values());
    for (const DataSet* set : {&problem.train, &problem.test}) {
        mix_batch(set->x);
        mix_batch(set->y);
    }
    hash.mix(&problem.noise_std, sizeof problem.noise_std);
    if (problem.snr_db)
        for (const double db : {problem.snr_db->least_db, problem.snr_db->most_db})
            hash.mix(&db, sizeof db);
    if (problem.snr_db && problem.snr_db->power > 0)
        hash.mix(&problem.snr_db->power, sizeof problem.snr_db->power);
    const Disturbance& disturbance = problem.train_disturbance;
    if (!disturbance.none()) {
        mix_batch(disturbance.artefacts);
        for (const double number :
             {disturbance.noise_std, disturbance.least_snr_db, disturbance.most_snr_db})
            hash.mix(&number, sizeof number);
    }
    return hash.text();
}

}  // namespace pibinn
