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
  contents_ += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, text);
  body_ += fmt::format("<section id=\"{}\" class=\"{}\"><h2>{}</h2>\n{}</section>\n", id, style,
                       text, body);
}

std::string HtmlPage::html(std::string_view json) const {
  const std::string title = html_text(title_);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src {0}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{1}</title>\n<style>{2}</style>\n</head>\n"
      "<body>\n<header><h1>{1}</h1>\n"
      "<p class=\"soft\">Created by bench_results {3}</p></header>\n"
      "<nav aria-label=\"Contents\"><details><summary>Contents</summary><ul>\n{4}</ul></details>"
      "</nav>\n"
      "<main>\n{5}</main>\n"
      "<script type=\"application/json\" id=\"data\">{6}</script>\n"
      "<script>{7}</script>\n</body>\n</html>\n",
      script_hash(sort_script()), title, page_style(), html_text(source_info().bench_version),
      contents_, body_, script_text(json), sort_script());
}

}  // namespace bench::results
