#include "results/page/html_page.h"

#include <utility>

#include "models/base/errors.h"
#include "results/page/markup.h"
#include "results/page/sort_script.h"
#include "results/page/style.h"
#include "results/record/build_info.h"

namespace bench::results {

HtmlPage::HtmlPage(std::string title) : title_(std::move(title)) {}

void HtmlPage::add(std::string_view id, std::string_view heading, const std::string& body,
                   std::string_view style) {
  const std::string text = html_text(heading);
  contents_ += cat("<li><a href=\"#", id, "\">", text, "</a></li>\n");
  body_ += cat("<section id=\"", id, "\" class=\"", style, "\"><h2>", text, "</h2>\n", body,
               "</section>\n");
}

std::string HtmlPage::html(std::string_view json) const {
  const std::string title = html_text(title_);
  return cat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src ",
      script_hash(sort_script()),
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      title, "</title>\n<style>", page_style(), "</style>\n</head>\n<body>\n<header><h1>", title,
      "</h1>\n<p class=\"soft\">Made by bench_results ", html_text(source_info().bench_version),
      "</p></header>\n<nav aria-label=\"Contents\"><ul>\n", contents_, "</ul></nav>\n<main>\n",
      body_, "</main>\n", R"(<script type="application/json" id="data">)", script_text(json),
      "</script>\n<script>", sort_script(), "</script>\n</body>\n</html>\n");
}

}  // namespace bench::results
