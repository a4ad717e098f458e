#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Workloads in words that readers of a report know.
namespace bench::results {

/// For example "resnet50, training, batch 32, bf16"; empty without a model.
std::string workload_words(const nlohmann::json& record);

/// What the workload has in common with those of other models: "training, bf16".
std::string workload_group(const nlohmann::json& record);

}  // namespace bench::results
