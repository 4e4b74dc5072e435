#include "core/machine.hpp"

#include <gtest/gtest.h>

#include "core/cuda_module.hpp"

namespace pibinn {
namespace {

TEST(MachineText, NamesTheDeviceThatDidTheWork) {
    EXPECT_NE(machine_text().find(" cores"), std::string::npos) << machine_text();
    EXPECT_EQ(machine_text("cpu"), machine_text());
    const std::string device = cuda_device_name();
    EXPECT_EQ(machine_text("cuda"),
              device.empty() ? machine_text() : machine_text() + ", " + device);
}

}  // namespace
}  // namespace pibinn
