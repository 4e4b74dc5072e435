#include "data/claims.hpp"

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

TEST(Claims, MayTakeSoMuchPerByteOfTheFile) {
    const std::uint64_t file = 1'000'000;
    EXPECT_NO_THROW(require_claim(1e8, 100, file, "it"));
    EXPECT_THROW(require_claim(1e8 + 1, 100, file, "it"), Error);
    EXPECT_THROW(require_claim(1e300, 100, ~std::uint64_t{0}, "it"), Error);
}

TEST(Claims, OfAShortFileHaveAFixedLimit) {
    EXPECT_NO_THROW(require_claim(free_claim, 100, 0, "it"));
    EXPECT_THROW(require_claim(free_claim + 1, 100, 0, "it"), Error);
}

TEST(Claims, ThatAreRefusedTellTheNumbers) {
    try {
        require_claim(5e8, 4096, 14'000, "'x.jpg': 10000 x 10000 pixels", "scale it down");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_STREQ(error.what(),
                     "'x.jpg': 10000 x 10000 pixels would take 500.0 MB of memory; a file of 14000 "
                     "bytes may take 57.3 MB; scale it down");
    }
}

}  // namespace
}  // namespace pibinn
