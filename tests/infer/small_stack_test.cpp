#include <filesystem>

#include <pthread.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "pibinn/c_api.h"
#include "pibinn/model.hpp"

namespace pibinn {
namespace {

struct Loading {
    std::string path;
    pibinn_status status = PIBINN_OK;
    std::string error;
};

void* load(void* argument) {
    auto& loading = *static_cast<Loading*>(argument);
    pibinn_model* model = nullptr;
    loading.status = pibinn_load(loading.path.c_str(), &model);
    loading.error = pibinn_last_error();
    pibinn_free(model);
    return nullptr;
}

// Sanitizers make frames several times as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStack = 1024U << 10U;
#else
constexpr std::size_t kStack = 256U << 10U;
#endif

/// pibinn_load on a thread with a small stack.
void load_on_a_small_stack(Loading& loading) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, load, &loading), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
}

TEST(SmallStack, SufficesToLoadAModelAndToRefuseOneThatNestsDeep) {
    const auto path = std::filesystem::temp_directory_path() /
                      fmt::format("pibinn-stack-{}.safetensors", ::getpid());
    const Operator op = Operator::random(Structure::dense(5, 9), OperatorEnsemble::gaussian, 1);
    untrained_model({}, op, 0.1).save(path);
    Loading loading{path.string(), PIBINN_OK, ""};
    load_on_a_small_stack(loading);
    EXPECT_EQ(loading.status, PIBINN_OK) << loading.error;

    const std::string good = read_file(path);
    for (const std::size_t depth : {std::size_t{5'000}, std::size_t{200'000}}) {
        SafeTensors file = parse_safetensors(good, "file");
        file.metadata["pibinn.structure"] = R"({"kind":"blocks","m":5,"n":9,"blocks":)" +
                                            std::string(depth, '[') + std::string(depth, ']') + "}";
        write_safetensors(path, file.tensors, file.metadata);
        load_on_a_small_stack(loading);
        EXPECT_EQ(loading.status, PIBINN_INPUT_ERROR) << loading.error;
        EXPECT_NE(loading.error.find("levels deep"), std::string::npos) << loading.error;
    }
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace pibinn
