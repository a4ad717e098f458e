#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "kernels/backend.h"

namespace bench {

/// A device on which kernels are timed.
struct TunedDevice {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
};

class Tuning : public testing::TestWithParam<TunedDevice> {};

inline std::string tuned_device_name(const testing::TestParamInfo<TunedDevice>& info) {
  return info.param.name;
}

}  // namespace bench
