#pragma once

#include <string>
#include <string_view>

namespace bench::results {

/// One HTML file in the making: it needs no network, and no script to be read (the only one sorts
/// tables), which its Content-Security-Policy holds it to.
class HtmlPage {
 public:
  explicit HtmlPage(std::string title);

  /// A section with its entry in the table of contents. `body` is HTML, `heading` plain text.
  void add(std::string_view id, std::string_view heading, const std::string& body,
           std::string_view style = "");

  /// The whole file, with `json` in it for programs, as the element `data`.
  [[nodiscard]] std::string html(std::string_view json) const;

 private:
  std::string title_;
  std::string contents_;
  std::string body_;
};

}  // namespace bench::results
