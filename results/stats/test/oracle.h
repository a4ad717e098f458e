#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/stats/interval.h"

namespace bench::results::stats {

/// The entry of oracle.json, which make_oracle.py computed with scipy.
nlohmann::json oracle(const std::string& name);

std::vector<double> numbers(const nlohmann::json& list);

/// Expects both intervals to be empty, or their ends to be equal to 1e-9.
void expect_interval(const std::optional<Interval>& ours, const nlohmann::json& theirs);

}  // namespace bench::results::stats
