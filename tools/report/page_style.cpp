// SPDX-License-Identifier: MIT
// The style sheet of the report. Blue and orange are told apart by every common kind of colour
// blindness; nothing is said by colour alone.
#include "tools/report/page.h"

namespace mla::tools {

const char* const kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1f24; --faint: #57606a; --rule: #d0d7de; --panel: #f6f8fa;
  --blue: #0b5cad; --band: #0b5cad33; --orange: #b35806; --alarm: #cf222e; --alarm-paper: #fff0ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #e6edf3; --faint: #9aa7b4; --rule: #3a424b; --panel: #1c2128;
    --blue: #6cb6ff; --band: #6cb6ff33; --orange: #f0a04b; --alarm: #ff7b72; --alarm-paper: #3a1d1d;
  }
}
@page { margin: 12mm; }
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --ink: #000000; --faint: #333333; --rule: #999999; --panel: #ffffff;
    --blue: #0b5cad; --band: #0b5cad33; --orange: #b35806; --alarm: #cf222e; --alarm-paper: #ffffff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1180px; margin: 0 auto; padding: 16px; overflow-wrap: anywhere; }
h1 { font-size: 26px; margin: 8px 0; }
h2 { font-size: 21px; margin: 28px 0 8px; border-bottom: 1px solid var(--rule); padding-bottom: 4px; }
h2 small { font-weight: normal; color: var(--faint); font-size: 15px; }
h3 { font-size: 18px; margin: 28px 0 6px; }
h4 { font-size: 14px; margin: 10px 0 4px; }
p { margin: 6px 0 10px; max-width: 80ch; }
a { color: var(--blue); }
nav a { display: inline-block; margin-right: 14px; }
.lead { font-size: 17px; }
.alarm {
  border: 2px solid var(--alarm); background: var(--alarm-paper); border-radius: 4px;
  padding: 8px 12px; max-width: none;
}
.alarm::before { content: "Warning: "; font-weight: bold; color: var(--alarm); }
.figures { display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: flex-start; }
.panel { width: 356px; max-width: 100%; }
figure { margin: 0 0 6px; max-width: 100%; width: 356px; }
figcaption, summary { color: var(--faint); font-size: 13px; }
svg { display: block; max-width: 100%; height: auto; }
svg text { font: 11px "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace; fill: var(--ink); }
svg .label { fill: var(--faint); }
svg .on-light { fill: #000000; }
svg .on-dark { fill: #ffffff; }
svg .axis { stroke: var(--faint); stroke-width: 1; }
svg .grid { stroke: var(--rule); stroke-width: 0.5; }
svg .wave { stroke: var(--faint); stroke-width: 1; stroke-dasharray: 4 3; }
svg .band { fill: var(--band); stroke: none; }
svg .curve { fill: none; stroke: var(--blue); stroke-width: 1.5; }
svg .model { fill: none; stroke: var(--orange); stroke-width: 0.8; }
svg .faint { fill: none; stroke: var(--blue); stroke-width: 1; opacity: 0.45; }
svg .point { fill: var(--blue); stroke: none; }
svg .faint-point { fill: var(--blue); opacity: 0.35; }
svg .default-mark { fill: none; stroke: var(--ink); stroke-width: 1.5; }
svg .answer-mark { fill: var(--orange); stroke: var(--paper); stroke-width: 1; }
svg .hatch { fill: url(#hatch); }
.scroll { overflow-x: auto; max-width: 100%; margin: 6px 0 12px; }
table { border-collapse: collapse; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--rule); }
th { color: var(--faint); font-weight: 600; white-space: nowrap; }
td { min-width: 5ch; max-width: 60ch; overflow-wrap: break-word; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td code { display: inline-block; min-width: 44ch; }
code { font: 12px/1.4 "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace; }
@media print { /* two figures beside each other on A4 and letter */
  main { max-width: none; padding: 0; }
  .figures { gap: 8px 12px; }
  .panel, figure { width: 340px; }
  nav { display: none; }
  figure, .panel, tr, .alarm { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  details { display: none; } /* 85 pages of 31 shapes; the files beside this one have the numbers */
  .scroll { overflow: visible; }
  table { font-size: 7pt; }
  th, .number { white-space: normal; }
  td code { min-width: 20ch; font-size: 6.5pt; }
}
)css";

}  // namespace mla::tools
