#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "infer/packed_cases.hpp"
#include "pibinn/error.hpp"
#include "pibinn/packed_model.hpp"

namespace pibinn {
namespace {

using testing::some_model;

/// The kind and the text of what a call throws.
template <class Call>
std::pair<ErrorKind, std::string> refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return {error.kind(), error.what()};
    }
    return {ErrorKind::internal, "nothing was refused"};
}

TEST(PackedModel, RefusesShapesThatDoNotFitWithTheirValues) {
    const Model model = some_model({"", Structure::dense(5, 9), {}}, 1);
    ThreadPool pool(1);
    const PackedModel packed(model);
    PackedModel::Workspace workspace(packed);
    const Batch y(2, 5);

    auto [kind, text] = refusal([&] { packed.recover_coefficients(Batch(2, 6), pool); });
    EXPECT_EQ(kind, ErrorKind::input);
    EXPECT_NE(text.find("expected 5 measurements per row, got 6"), text.npos) << text;

    Batch narrow(2, 8), few(1, 9);
    std::tie(kind, text) = refusal([&] { packed.recover_coefficients(y, narrow.view(), pool); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_TRUE(text.find("2 x 9") != text.npos && text.find("2 x 8") != text.npos) << text;
    std::tie(kind, text) = refusal([&] { packed.recover_coefficients(y, few.view(), workspace); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_TRUE(text.find("2 x 9") != text.npos && text.find("1 x 9") != text.npos) << text;
}

TEST(PackedModel, RefusesTheWorkspaceOfASmallerModel) {
    const PackedModel small(some_model({"", Structure::dense(20, 40), {}}, 1));
    const PackedModel large(some_model({"", Structure::dense(200, 400), {}}, 1));
    PackedModel::Workspace workspace(small);
    Batch x(1, 400);
    const auto [kind, text] =
        refusal([&] { large.recover_coefficients(Batch(1, 200), x.view(), workspace); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_NE(text.find("workspace"), text.npos) << text;
}

TEST(PackedModel, RefusesGapsBetweenRowsOfARepeatedNetwork) {
    const PackedModel packed(some_model({"", Structure::repeated(3, 5, 2), {}}, 1));
    ThreadPool pool(1);
    const Batch wide(4, 7);
    Batch x(4, 10);
    const auto [kind, text] =
        refusal([&] { packed.recover_coefficients(wide.view().col_range(0, 6), x.view(), pool); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_NE(text.find("stride of 7"), text.npos) << text;
}

}  // namespace
}  // namespace pibinn
