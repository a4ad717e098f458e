#include "results/page/sort_script.h"

#include <array>
#include <cstdint>

#include "models/base/errors.h"
#include "results/record/identity.h"

namespace bench::results {

const char* sort_script() {
  return R"js(
const shown = (row, column) => row.cells[column].textContent.trim();
const number = text => {
  const found = text.replace(/,/g, '').match(/^[^\d+.-]*([+-]?\d*\.?\d+(?:e[+-]?\d+)?)(×?)/);
  return found ? (found[2] ? 100 * found[1] - 100 : Number(found[1])) : NaN;
};
const later = (a, b) => isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : a - b;
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const words = column === 0 || head.classList.contains('left');
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [shown(up ? a : b, column), shown(up ? b : a, column)];
        return words ? x.localeCompare(y, undefined, {numeric: true}) : later(number(x), number(y));
      });
      table.tBodies[0].append(...rows);
    });
  });
}
)js";
}

std::string script_hash(const char* script) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = sha256_hex(script);
  // Three hexadecimal digits make two of base64: 63 make 42, and 1 is left.
  std::string text;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char digit = hex[i];
    bits = bits << 4U | static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    if (i % 3 != 2) continue;
    text += kDigits[bits >> 6U & 63U];
    text += kDigits[bits & 63U];
    bits = 0;
  }
  bits <<= 8U;  // The last digit, followed by zeros.
  text += kDigits[bits >> 6U & 63U];
  text += kDigits[bits & 63U];
  return fmt::format("'sha256-{}='", text.substr(0, 43));
}

}  // namespace bench::results
