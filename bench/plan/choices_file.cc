#include "bench/plan/choices_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

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

}  // namespace

std::string to_text(const Choices& choices) {
  json text{{"nodes", json::object()}, {"held", json::object()}};
  for (const auto& [name, choice] : choices.nodes) {
    text["nodes"][name] = {{"implementation", choice.implementation},
                           {"inputs", tokens_of(choice.inputs)},
                           {"outputs", tokens_of(choice.outputs)}};
  }
  for (const auto& [name, layout] : choices.held) {
    text["held"][name] = layout.token();
  }
  return text.dump(2) + "\n";
}

Choices read_choices(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw UsageError(cat("--choices_file=", printable(path), ": cannot be read"));
  }
  try {
    const json text = json::parse(file);
    Choices choices;
    for (const auto& [name, choice] : text.at("nodes").items()) {
      choices.nodes[name] = {.implementation = choice.at("implementation").get<std::string>(),
                             .inputs = layouts_of(choice.at("inputs")),
                             .outputs = layouts_of(choice.at("outputs"))};
    }
    for (const auto& [name, layout] : text.at("held").items()) {
      choices.held[name] = Layout(layout.get<std::string>());
    }
    return choices;
  } catch (const json::exception&) {
    throw UsageError(
        cat("--choices_file=", printable(path), ": is not what --dump=choices prints"));
  }
}

}  // namespace bench
