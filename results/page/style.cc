#include "results/page/style.h"

namespace bench::results {

const char* page_style() {
  return R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --soft: #59626d; --rule: #d5dae0;
  --band: #f3f5f8; --mark: #0b61b8; --warn: #8a4b00;
  --shade: #00000040; --good: #0b6b32; --bar: #7fb2e5; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e7eaee; --soft: #a3adb8;
  --rule: #3a424c; --band: #1e2329; --mark: #6fb4ff; --warn: #ffb866; --shade: #ffffff50; --good: #5fd08a;
  --bar: #2f6ea8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 84rem; background: var(--paper); color: var(--ink);
  overflow-wrap: anywhere; font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .25rem 0; }
header p, nav { margin: 0; font-size: .875rem; }
nav + main section:first-child h2 { margin-top: .75rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p, ul { max-width: 48rem; }
.soft, figcaption, .caption { color: var(--soft); }
a { color: var(--mark); }
nav summary { cursor: pointer; color: var(--mark); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
.wide { overflow-x: auto; margin: 0 0 .75rem; background:
  linear-gradient(to right, var(--paper) 40%, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / 1rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / 1rem 100% no-repeat scroll; }
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
.warn, td small.warn { color: var(--warn); }
.banner { max-width: none; border: 2px solid var(--warn); border-radius: .4rem; padding: .5rem .8rem; margin: .5rem 0; }
.banner + .choice { margin-top: .9rem; }
.banner b { color: var(--warn); }
.choice { font-size: 1.5rem; line-height: 1.25; font-weight: 700; margin: .5rem 0; max-width: none; }
.choice + p { margin: .25rem 0 .75rem; font-size: 1.05rem; max-width: 60rem; }
.answers { display: flex; flex-wrap: wrap; gap: .75rem; margin: .75rem 0; }
.answer { flex: 1 1 18rem; max-width: 34rem; background: var(--band); border: 1px solid var(--rule);
  border-left: 5px solid var(--mark); border-radius: .4rem; padding: .5rem .9rem; break-inside: avoid; }
.answer p { margin: 0; }
.answer .who { font-size: 1.25rem; font-weight: 700; line-height: 1.3; }
.pair { display: flex; flex-wrap: wrap; gap: 0 2.5rem; align-items: flex-start; }
.glance { flex: 1 1 26rem; min-width: 0; max-width: 100%; }
.glance table { width: 100%; }
.glance table { font-size: .95rem; }
.tag { display: inline-block; font-size: .8em; font-weight: 600; line-height: 1.35; padding: 0 .4rem;
  white-space: nowrap; border: 1px solid var(--soft); border-radius: .6rem; color: var(--soft);
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.tag.certain { color: var(--paper); background: var(--good); border-color: var(--good); }
.tag.likely { color: var(--good); border-color: var(--good); }
.bar { display: block; width: 100%; min-width: 6rem; height: .6rem; margin: .15rem 0; background: var(--band);
  border-radius: .2rem; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bar span { display: block; height: 100%; min-width: 2px; background: var(--bar); border-radius: .2rem; }
.matrix table { width: 100%; }
.matrix td, .matrix .bar { text-align: left; }
.matrix thead th { text-align: left; }
.matrix .bar { width: 11rem; max-width: 100%; }
.part h2 { font-size: 1.5rem; border-top: 4px solid var(--rule); margin-top: 3.5rem; }
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
  h2 { margin-top: 1.5rem; } h1 + p { margin: 0; } .choice { font-size: 1.3rem; }
  td small { white-space: normal; min-width: 5.5rem; } .glance .bar { min-width: 4rem; }
  .wide:not(.cards) th[scope=row] { position: sticky; left: 0; background: var(--paper); max-width: 9rem; }
  .cards table, .cards tbody, .cards tr, .cards th[scope=row], .cards td { display: block; }
  .cards thead { display: none; }
  .cards tr { border: 1px solid var(--rule); border-radius: .4rem; margin: 0 0 .75rem; overflow: hidden; }
  .cards th[scope=row] { background: var(--band); font-weight: 700; }
  .matrix .bar { width: 100%; }
  .cards td::before { content: attr(data-label); display: block; font-weight: 600; } }
@media print { :root { --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --band: #eee; --mark: #00509d;
  --warn: #6b3a00; --good: #0b6b32; --bar: #7fb2e5; }
  body { font-size: 10pt; max-width: none; padding: 0; } nav { display: none; }
  .wide { overflow: visible; background: none; } thead button { display: contents; } thead button::after { content: none !important; } table { font-size: 8pt; } td small { white-space: normal; }
  tr, figure { break-inside: avoid; } thead { display: table-header-group; } h2, h3, .caption { break-after: avoid; }
  .figures { grid-template-columns: repeat(2, 1fr); } }
)css";
}

}  // namespace bench::results
