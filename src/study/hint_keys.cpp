#include "study/hint_keys.hpp"

#include <array>

namespace pibinn::study {

namespace {

// A row whose text starts with that of another row stands before it.
constexpr std::array kKeys{
    FieldKey{"AmpOptions::alpha", "--alpha"},
    FieldKey{"AmpOptions::damping", "damping"},
    FieldKey{"AmpOptions::max_iterations", "--iterations"},
    FieldKey{"AmpOptions::noise_std", "--noise-std"},
    FieldKey{"AmpOptions::tolerance", "--tolerance"},
    FieldKey{"ArrayProblem::basis", "problem.basis"},
    FieldKey{"ArrayProblem::noise_std", "problem.noise_std"},
    FieldKey{"ArrayProblem::snr_db", "problem.snr_db"},
    FieldKey{"ArrayProblem::test", "problem.test"},
    FieldKey{"ArrayProblem::train", "problem.train"},
    FieldKey{"ArrayProblem::vectors", "problem.vectors"},
    FieldKey{"BernoulliGaussian::density", "--density"},
    FieldKey{"BernoulliGaussian::variance", "--variance"},
    FieldKey{"CalibrationInput::measurements", "--measurements y.npy"},
    FieldKey{"CalibrationInput::noise_std", "--noise-std"},
    FieldKey{"CalibrationInput::signals", "--calibrate x.npy"},
    FieldKey{"CalibrationInput::snr_db", "--snr-db"},
    FieldKey{"CalibrationOptions::confidence", "--confidence"},
    FieldKey{"CalibrationOptions::coverage", "--coverage"},
    FieldKey{"CertificateInput::samples", "--samples"},
    FieldKey{"CertificateInput::signals", "--signals x.npy"},
    FieldKey{"CertificateInput::size", "--size 5"},
    FieldKey{"CertificateInput::support", "--support 1,5,9"},
    FieldKey{"give every entry of it as a link: Operator::from_dense",
             "set problem.structure = \"dense\""},
    FieldKey{"keep a calibration in the model by attach_calibration",
             "run 'pibinn certify MODEL --calibrate x.npy --attach' first"},
    FieldKey{"NetworkSpec::architecture = Architecture::unrolled",
             "model.architecture = \"unrolled\""},
    FieldKey{"NetworkSpec::layers", "model.layers"},
    FieldKey{"NetworkSpec::pieces", "model.pieces"},
    FieldKey{"NetworkSpec::groups", "model.groups"},
    FieldKey{"NetworkSpec::neighbours", "model.neighbours"},
    FieldKey{"NetworkSpec::grid", "problem.patch"},
    FieldKey{"NetworkSpec::polish", "model.polish"},
    FieldKey{"NetworkSpec::centre", "model.centre"},
    FieldKey{"NetworkSpec::update.onsager = false", "model.onsager = false"},
    FieldKey{"NetworkSpec::update.residual_threshold = false", "model.threshold = \"fixed\""},
    FieldKey{"NetworkSpec::update.step", "model.step"},
    FieldKey{"NetworkSpec::update = Update::plain()", "model.update = \"plain\""},
    FieldKey{"OmpOptions::noise_std", "--noise-std"},
    FieldKey{"PatchSpec::folder", "problem.path"},
    FieldKey{"PatchSpec::per_image", "problem.patches"},
    FieldKey{"PatchSpec::side", "problem.patch"},
    FieldKey{"PatchSpec::test", "problem.test"},
    FieldKey{"PatchSpec::train", "problem.train"},
    FieldKey{"Problem::noise_std", "problem.noise_std"},
    FieldKey{"Recipe::batch", "train.batch"},
    FieldKey{"Recipe::ramp", "train.ramp"},
    FieldKey{"Recipe::stages", "[[train.stage]]"},
    FieldKey{"Recipe::start = Start::ista", "train.start = \"ista\""},
    FieldKey{"Recipe::validation", "train.validation"},
    FieldKey{"SegmentSpec::artefact", "problem.artefact"},
    FieldKey{"SegmentSpec::clean_ids", "problem.ids"},
    FieldKey{"SegmentSpec::clean", "problem.x"},
    FieldKey{"SegmentSpec::folder", "problem.path"},
    FieldKey{"SegmentSpec::split_by_recording = false", "problem.split = \"row\""},
    FieldKey{"SegmentSpec::test", "problem.test"},
    FieldKey{"SegmentSpec::train", "problem.train"},
    FieldKey{"SensingSpec::blocks", "problem.repeat"},
    FieldKey{"SensingSpec::m", "problem.m"},
    FieldKey{"SensingSpec::structure = StructureKind::dense", "problem.structure = \"dense\""},
    FieldKey{"SignalDomain::normalize = Normalize::none", "problem.normalize = \"none\""},
    FieldKey{"SparsePrior::support", "problem.support"},
    FieldKey{"SyntheticSpec::ones_per_column", "problem.ones_per_column"},
    FieldKey{"SignalClass::noise", "train.guarantee.noise"},
    FieldKey{"SignalClass::norm", "train.guarantee.norm"},
    FieldKey{"SignalClass::size", "train.guarantee.size"},
    FieldKey{"SignalClass::supports", "train.guarantee.supports"},
    FieldKey{"Stage::alpha", "the key 'alpha' of a stage"},
    FieldKey{"Stage::guarantee", "the key 'guarantee' of a stage"},
    FieldKey{"set TrainOptions::device = \"cpu\"", "use --device cpu"},
    FieldKey{"use the processor: device cpu, kernel auto",
             "use the processor: --device cpu, --kernel auto"},
};

}  // namespace

std::string replace_fields(std::string text, std::span<const FieldKey> keys) {
    for (const auto& [field, key] : keys)
        for (std::size_t at = 0; (at = text.find(field, at)) != std::string::npos;) {
            text.replace(at, field.size(), key);
            at += key.size();
        }
    return text;
}

std::string with_keys(std::string_view message) {
    return replace_fields(std::string(message), kKeys);
}

}  // namespace pibinn::study
