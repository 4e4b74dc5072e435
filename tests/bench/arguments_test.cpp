#include "bench/arguments.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn::bench {
namespace {

TEST(BenchArguments, ReadWhatIsGiven) {
    const BenchArguments a =
        parse_arguments({"throughput", "--size", "8x16x3", "--seconds", "0.5", "--density", "0.2",
                         "--threads", "2", "--json", "-", "--quiet", "--cases", "folder"});
    EXPECT_EQ(a.bench, Bench::throughput);
    EXPECT_EQ(a.options.shapes, (std::vector<NetworkShape>{{8, 16, 3}}));
    EXPECT_EQ(a.options.seconds, 0.5);
    EXPECT_EQ(a.options.density, 0.2);
    EXPECT_EQ(a.options.threads, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(a.options.kernels, (std::vector<std::string>{"auto"}));
    EXPECT_EQ(a.options.cases, "folder");
    EXPECT_EQ(a.json, "-");
    EXPECT_TRUE(a.quiet);
}

TEST(BenchArguments, TheLargestNetworkIsMeasuredOnRequestOnly) {
    const auto has_large = [](const BenchArguments& a) {
        return std::ranges::find(a.options.shapes, NetworkShape{2048, 4096, 10}) !=
               a.options.shapes.end();
    };
    EXPECT_FALSE(has_large(parse_arguments({"latency"})));
    EXPECT_TRUE(has_large(parse_arguments({"latency", "--large"})));
    EXPECT_TRUE(has_large(parse_arguments({"all"})));
}

TEST(BenchArguments, ChooseTheRandomNetworks) {
    EXPECT_EQ(parse_arguments({"latency"}).options.network, NetworkChoice::one_bit);
    EXPECT_EQ(parse_arguments({"latency", "--network", "tied"}).options.network,
              NetworkChoice::tied);
    EXPECT_EQ(parse_arguments({"throughput", "--network", "signs"}).options.network,
              NetworkChoice::signs);
    EXPECT_EQ(
        parse_arguments({"latency", "--network", "convolution", "--size", "9x7x2"}).options.network,
        NetworkChoice::convolution);
    EXPECT_THROW(parse_arguments({"latency", "--network", "convolution", "--size", "7x9x2"}),
                 Error);
    EXPECT_THROW(parse_arguments({"latency", "--network", "ternary"}), Error);
    EXPECT_THROW(parse_arguments({"train", "--network", "tied"}), Error);
    EXPECT_THROW(parse_arguments({"latency", "--network", "tied", "--model", "m"}), Error);
}

TEST(BenchArguments, OneThreadIsMeasuredOnce) {
    EXPECT_EQ(parse_arguments({"train", "--threads", "1"}).options.threads,
              (std::vector<std::size_t>{1}));
}

TEST(BenchArguments, HelpHasAnExample) {
    EXPECT_NE(parse_arguments({"--help"}).help.find("pibinn-bench latency"), std::string::npos);
}

struct Refused {
    std::vector<std::string> words;
    std::string what;
};

class BenchRefuses : public testing::TestWithParam<Refused> {};

TEST_P(BenchRefuses, WithTheValueInTheMessageAndAHint) {
    try {
        parse_arguments(GetParam().words);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find(GetParam().what), std::string::npos)
            << error.what();
        EXPECT_FALSE(error.hint().empty());
    }
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, BenchRefuses,
    testing::Values(Refused{{}, "WHAT is required"}, Refused{{"latncy"}, "did you mean 'latency'"},
                    Refused{{"latency", "extra"}, "unexpected argument 'extra'"},
                    Refused{{"latency", "--secnds", "1"}, "did you mean '--seconds'"},
                    Refused{{"train", "--seconds", "-1"}, "--seconds -1"},
                    Refused{{"train", "--seconds", "nan"}, "--seconds nan"},
                    Refused{{"train", "--threads", "-1"}, "--threads -1"},
                    Refused{{"latency", "--size", "8x16"}, "--size '8x16'"},
                    Refused{{"latency", "--size", "8x0x2"}, "--size '8x0x2'"},
                    Refused{{"latency", "--size", "8x16x2x"}, "--size '8x16x2x'"},
                    Refused{{"latency", "--density", "0"}, "--density 0"},
                    Refused{{"latency", "--kernel", "AVX9"}, "no kernel 'AVX9'"},
                    Refused{{"latency", "--model", "m", "--large"}, "--model and sizes"},
                    Refused{{"latency", "--plot", "x.svg"}, "--plot has no meaning"},
                    Refused{{"train", "--size", "8x16x2"}, "--size has no meaning"},
                    Refused{{"scaling", "--plot", "x.png"}, "x.png"},
                    Refused{{"scaling", "--kernel", "all"}, "--kernel all"}));

}  // namespace
}  // namespace pibinn::bench
