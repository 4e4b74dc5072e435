#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>

#include "bindings.hpp"
#include "core/machine.hpp"
#include "pibinn/error.hpp"
#include "pibinn/study.hpp"
#include "study/config_keys.hpp"
#include "study/field_study.hpp"
#include "study/hint_keys.hpp"
#include "study/reproduction.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

/// Errors in the words of a configuration, which is what these functions take.
template <class Work>
void in_words_of_keys(const nb::object& progress, const Work& work) {
    run_stoppable(progress, [&](const ProgressSink& sink) {
        try {
            work(sink);
        } catch (const Error& error) {
            throw Error(error.kind(), study::with_keys(error.message()),
                        study::with_keys(error.hint()));
        }
    });
}

nb::dict to_dict(const study::RunResult& result) {
    nb::dict words;
    words["finished"] = result.finished;
    words["models"] = nb::cast(result.models);
    words["summary"] = result.summary;
    return words;
}

nb::dict compare(const std::string& file, const std::vector<std::string>& settings,
                 std::optional<std::uint64_t> seed, const std::string& weights,
                 const std::string& structures, const std::string& architectures, std::size_t seeds,
                 const std::filesystem::path& folder, bool resume, std::size_t threads,
                 const nb::object& progress) {
    study::RunResult result;
    in_words_of_keys(progress, [&](const ProgressSink& sink) {
        result = study::compare({file, settings, seed}, {weights, structures, architectures}, seeds,
                                {folder, resume, "cpu", threads, sink});
    });
    return to_dict(result);
}

nb::dict train(const std::string& file, const std::vector<std::string>& settings,
               std::optional<std::uint64_t> seed, const std::filesystem::path& folder, bool resume,
               const std::string& device, std::size_t threads, const nb::object& progress) {
    study::RunResult result;
    in_words_of_keys(progress, [&](const ProgressSink& sink) {
        result = study::train({file, settings, seed}, {folder, resume, device, threads, sink});
    });
    return to_dict(result);
}

nb::dict reproduce(const std::vector<std::string>& ids, std::size_t seeds, bool quick,
                   const std::string& images, const std::string& eeg,
                   const std::filesystem::path& folder, const std::string& date,
                   std::size_t threads, const nb::object& progress) {
    study::ReproductionRequest request;
    request.ids = ids;
    request.seeds = seeds;
    request.quick = quick;
    request.images = images;
    request.eeg = eeg;
    request.folder = folder;
    request.machine = machine_text();
    request.date = date;
    request.command = "pibinn.reproduce";
    study::ReproductionResult result;
    in_words_of_keys(progress, [&](const ProgressSink& sink) {
        ThreadPool pool(threads);
        result = study::reproduce(request, sink, pool);
    });
    nb::dict words;
    words["finished"] = result.finished;
    words["summary"] = result.report.tables.empty() && result.field
                           ? study::field_json(*result.field).dump()
                           : study::reproduction_json(result.report).dump();
    return words;
}

}  // namespace

void bind_studies(nb::module_& core) {
    core.def("compare", &compare, "file"_a, "settings"_a, "seed"_a, "weights"_a, "structures"_a,
             "architectures"_a, "seeds"_a, "folder"_a, "resume"_a, "threads"_a,
             "progress"_a.none());
    core.def("train_configuration", &train, "file"_a, "settings"_a, "seed"_a, "folder"_a,
             "resume"_a, "device"_a, "threads"_a, "progress"_a.none());
    core.def("reproduce", &reproduce, "ids"_a, "seeds"_a, "quick"_a, "images"_a, "eeg"_a,
             "folder"_a, "date"_a, "threads"_a, "progress"_a.none());
    core.def("default_configuration", &study::default_config,
             "Every key of a configuration with its default and meaning, as TOML.");
}

}  // namespace pibinn::python
