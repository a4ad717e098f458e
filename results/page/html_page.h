#pragma once

#include <string>
#include <string_view>

namespace bench::results {

/// Builds one HTML file that needs no network and is readable without scripts. Its
/// Content-Security-Policy enforces this; the only script sorts tables.
class HtmlPage {
 public:
  explicit HtmlPage(std::string title);

  /// A section with its entry in the table of contents. `body` is HTML, `heading` plain text.
  void add(std::string_view id, std::string_view heading, const std::string& body,
           std::string_view style = "");

  /// The whole file. `json` is embedded for programs, as the element `data`.
  [[nodiscard]] std::string html(std::string_view json) const;

 private:
  std::string title_;
  std::string contents_;
  std::string body_;
};

}  // namespace bench::results
