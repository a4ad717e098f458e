#include "bench/plan/choices_file.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/plan/settings.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

using nlohmann::json;

std::vector<std::string> tokens_of(const std::vector<Layout>& layouts) {
  std::vector<std::string> tokens;
  for (const Layout& layout : layouts) {
    tokens.push_back(layout.token());
  }
  return tokens;
}

std::vector<Layout> layouts_of(const json& tokens) {
  std::vector<Layout> layouts;
  for (const json& token : tokens) {
    layouts.emplace_back(token.get<std::string>());
  }
  return layouts;
}

UsageError refusal(const std::string& path, const std::string& why) {
  return UsageError(fmt::format("--choices_file={}: {}", printable(path), why));
}

}  // namespace

std::map<std::string, std::string> flags_of_choices(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  return {{"model", std::string(workload.model->name)},
          {"data_name", std::string(workload.dataset->name)},
          {"device", std::string(name_of(settings.execution.device))},
          {"forward_only", workload.training() ? "false" : "true"},
          {"dtype", std::string(workload.int8 ? "int8" : name_of(workload.dtype))},
          {"data_format", std::string(name_of(settings.execution.format))},
          {"batch_size", std::to_string(workload.batch)},
          {"micro_batch", std::to_string(images_at_once(settings))},
          {"num_classes", std::to_string(workload.num_classes)},
          {"image_size", std::to_string(workload.image_size)},
          {"aux_head", workload.aux_head ? "true" : "false"},
          {"freeze_when_forward_only", workload.freeze ? "true" : "false"},
          {"print_training_accuracy", workload.print_training_accuracy ? "true" : "false"}};
}

std::string to_text(const ChoicesFile& file) {
  json text{{"made_for", file.made_for}, {"nodes", json::object()}, {"held", json::object()}};
  for (const auto& [name, choice] : file.choices.nodes) {
    text["nodes"][name] = {{"implementation", choice.implementation},
                           {"inputs", tokens_of(choice.inputs)},
                           {"outputs", tokens_of(choice.outputs)}};
  }
  for (const auto& [name, layout] : file.choices.held) {
    text["held"][name] = layout.token();
  }
  return text.dump(2) + "\n";
}

std::optional<ChoicesFile> parse_choices(const std::string& text) {
  try {
    const json whole = json::parse(text);
    const json& choices = whole.contains("schema") ? whole.at("choices") : whole;
    ChoicesFile file{.choices = {},
                     .made_for = choices.at("made_for").get<std::map<std::string, std::string>>()};
    for (const auto& [name, choice] : choices.at("nodes").items()) {
      file.choices.nodes[name] = {.implementation = choice.at("implementation").get<std::string>(),
                                  .inputs = layouts_of(choice.at("inputs")),
                                  .outputs = layouts_of(choice.at("outputs"))};
    }
    for (const auto& [name, layout] : choices.at("held").items()) {
      file.choices.held[name] = Layout(layout.get<std::string>());
    }
    return file;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

ChoicesFile read_choices(const std::string& path) {
  std::error_code error;
  // Opening a FIFO without a writer would block here.
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw refusal(path, "this is not a regular file");
  }
  std::ifstream stream(path);
  if (!stream) {
    throw refusal(path, "cannot read the file");
  }
  std::ostringstream text;
  text << stream.rdbuf();
  std::optional<ChoicesFile> file = parse_choices(text.str());
  if (!file) {
    throw refusal(path,
                  "the file is neither the output of --dump=choices nor a record with choices");
  }
  return *std::move(file);
}

void check_choices(const RunSettings& settings) {
  const Execution& execution = settings.execution;
  if (!execution.choices_file) {
    return;
  }
  const auto& made_for = execution.choices->made_for;
  for (const auto& [flag, value] : flags_of_choices(settings)) {
    const auto theirs = made_for.find(flag);
    if (theirs == made_for.end()) {
      throw refusal(*execution.choices_file,
                    fmt::format("the file does not name --{}, but this run has {}", flag, value));
    }
    if (theirs->second != value) {
      throw refusal(*execution.choices_file,
                    fmt::format("the file was made for --{}={}, but this run has {}", flag,
                                printable(theirs->second), value));
    }
  }
}

}  // namespace bench
