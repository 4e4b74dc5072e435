#include "study/field_keys.hpp"

#include <array>

namespace pibinn::study {

namespace {

struct FieldKey {
    std::string_view field;
    std::string_view key;
};

// A row whose text starts with that of another row stands before it.
constexpr std::array kKeys{
    FieldKey{"PatchSpec::folder", "problem.path"},
    FieldKey{"PatchSpec::per_image", "problem.patches"},
    FieldKey{"PatchSpec::side", "problem.patch"},
    FieldKey{"PatchSpec::test", "problem.test"},
    FieldKey{"PatchSpec::train", "problem.train"},
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
};

}  // namespace

std::string with_keys(std::string_view message) {
    std::string text(message);
    for (const auto& [field, key] : kKeys)
        for (std::size_t at = 0; (at = text.find(field, at)) != std::string::npos;) {
            text.replace(at, field.size(), key);
            at += key.size();
        }
    return text;
}

}  // namespace pibinn::study
