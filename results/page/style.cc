#include "results/page/style.h"

namespace bench::results {

const char* page_style() {
  return R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --soft: #59626d; --rule: #d5dae0;
  --band: #f3f5f8; --mark: #0b61b8; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e7eaee; --soft: #a3adb8;
  --rule: #3a424c; --band: #1e2329; --mark: #6fb4ff; --warn: #ffb866; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 84rem; background: var(--paper); color: var(--ink);
  overflow-wrap: anywhere; font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p, ul { max-width: 48rem; }
.soft, figcaption, .caption { color: var(--soft); }
a { color: var(--mark); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
.wide { overflow-x: auto; margin: 0 0 .75rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
.caption { font-size: .875rem; margin: .75rem 0 .25rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--rule); text-align: right; vertical-align: top;
  overflow-wrap: normal; }
th[scope=row], td.left { min-width: 8rem; overflow-wrap: anywhere; }
th[scope=row], th:first-child, th.left { text-align: left; }
th[scope=row] { font-weight: 500; }
thead th { background: var(--band); vertical-align: bottom; }
thead button { all: unset; cursor: pointer; }
thead button:focus-visible { outline: 2px solid var(--mark); }
th[aria-sort=ascending] button::after { content: " ▲"; }
th[aria-sort=descending] button::after { content: " ▼"; }
td small, th small { display: block; color: var(--soft); white-space: nowrap; font-size: .92em; }
td.left { text-align: left; max-width: 44rem; overflow-wrap: anywhere; }
.warn { color: var(--warn); }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1rem 2rem; }
figure { margin: 0; max-width: 36rem; break-inside: avoid; }
figcaption { font-size: .875rem; font-weight: 600; }
svg { display: block; width: 100%; height: auto; overflow: visible; font: 11px system-ui, "DejaVu Sans", sans-serif; }
svg text { fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
svg .tick, svg .value { fill: var(--soft); }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .equal { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .interval { stroke: var(--mark); stroke-width: 2; }
svg .median { stroke: var(--ink); stroke-width: 2; }
svg .run { fill: var(--mark); fill-opacity: .45; stroke: var(--mark); }
svg .ratio { fill: var(--mark); stroke: var(--mark); }
svg .open { fill: var(--paper); }
svg .band { fill: var(--band); }
svg .level { stroke: var(--ink); stroke-width: 1.5; }
svg .point { fill: var(--mark); }
svg .odd { fill: none; stroke: var(--warn); stroke-width: 2; }
svg .change { stroke: var(--warn); stroke-width: 1.5; stroke-dasharray: 2 2; }
svg .note { fill: var(--warn); }
svg .curve { fill: none; stroke: var(--mark); stroke-width: 1.5; }
.apart { border: 2px dashed var(--rule); padding: 0 1rem 1rem; margin-top: 2.5rem; }
.apart h2 { border: 0; margin-top: 0; }
@media (max-width: 40rem) { body { padding: .75rem; } th, td { padding: .25rem .4rem; }
  td small { white-space: normal; min-width: 5.5rem; } .matrix table { font-size: .8125rem; }
  .matrix th[scope=row] { position: sticky; left: 0; background: var(--paper); max-width: 9rem; } }
@media print { :root { --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --band: #eee; --mark: #00509d;
  --warn: #6b3a00; }
  body { font-size: 10pt; max-width: none; padding: 0; } nav { display: none; }
  .wide { overflow: visible; } thead button { display: contents; } thead button::after { content: none !important; } table { font-size: 8pt; } td small { white-space: normal; }
  tr, figure { break-inside: avoid; } thead { display: table-header-group; } h2, h3, .caption { break-after: avoid; }
  .figures { grid-template-columns: repeat(2, 1fr); } }
)css";
}

}  // namespace bench::results
