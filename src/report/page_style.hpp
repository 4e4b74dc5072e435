#pragma once

namespace pibinn {

/// The look of every page: two columns of white cards that become one on a phone, and the same in
/// dark where the reader's system is dark.
inline constexpr const char* kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --ink: #262c38; --soft: #5d6675; --page: #f4f5f8; --card: #ffffff; --line: #e2e5eb;
  --accent: #3b7dd8; --tint: #3b7dd81c; --shade: #262c3866;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e7ec; --soft: #a0a9b8; --page: #14171d; --card: #1d2129; --line: #323844;
    --accent: #7fb0f2; --tint: #7fb0f22b; --shade: #000000b0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 32px 20px 24px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 14px; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 36px 0 4px; }
h3 { font-size: 15px; margin: 0 0 6px; }
p { margin: 0 0 10px; }
.kind {
  color: var(--accent); font-weight: 600; font-size: 13px; letter-spacing: 0.06em;
  text-transform: uppercase; margin: 0 0 4px;
}
header + p { margin: 14px 0 0; color: var(--soft); }
.lead { font-size: 19px; line-height: 1.4; margin: 0 0 14px; }
.wide + p, .figures + p { margin-top: 12px; }
h1, p, li { overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: 14px; }
.facts { list-style: none; display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0; }
.facts li {
  background: var(--card); border: 1px solid var(--line); border-radius: 999px;
  padding: 2px 12px; font-size: 14px;
}
.key-figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 12px;
  margin: 24px 0 0;
}
.card, figure, .wide, pre {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
}
.card { padding: 12px 14px; }
.card .label { color: var(--soft); font-size: 13px; }
.card .value {
  font-size: 23px; font-weight: 650; font-variant-numeric: tabular-nums; white-space: nowrap;
}
.card .unit { font-size: 14px; font-weight: 400; color: var(--soft); }
.card .note { font-size: 13px; line-height: 1.35; }
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 12px;
  margin: 10px 0 0;
}
figure { margin: 0; padding: 14px 16px; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 560px; margin: 0 auto; }
.broad svg { max-width: 900px; }
.narrow { display: none; }
figcaption { margin-top: 6px; }
.missing { color: var(--soft); border: 1px dashed var(--line); padding: 24px; text-align: center; }
/* A shadow at an edge says that the table goes on beyond it: the first two layers move with the
   table and cover the shadows where it ends. */
.wide {
  overflow-x: auto; margin: 10px 0 0; padding: 4px 0;
  background:
    linear-gradient(to right, var(--card) 40%, transparent) left / 48px 100%,
    linear-gradient(to left, var(--card) 40%, transparent) right / 48px 100%,
    linear-gradient(to right, var(--shade), transparent) left / 18px 100%,
    linear-gradient(to left, var(--shade), transparent) right / 18px 100%,
    var(--card);
  background-repeat: no-repeat;
  background-attachment: local, local, scroll, scroll, scroll;
}
table { border-collapse: collapse; width: 100%; font-size: 15px; }
th, td { padding: 7px 16px; text-align: left; white-space: nowrap; }
th {
  color: var(--soft); font-weight: 600; font-size: 13px; white-space: normal;
  vertical-align: bottom; line-height: 1.3;
}
tbody tr { border-top: 1px solid var(--line); }
.prose { white-space: normal; min-width: 190px; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.highlight { background: var(--tint); font-weight: 650; }
pre {
  margin: 10px 0 0; padding: 12px 16px; overflow-x: auto;
  font: 13px/1.5 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace;
}
footer { margin: 32px 0 0; color: var(--soft); font-size: 13px; }
@media (max-width: 800px) {
  .broad { display: none; }
  .narrow { display: block; }
}
@media (max-width: 560px) {
  main { padding: 20px 12px; }
  h1 { font-size: 24px; }
  .key-figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .card .value { font-size: 20px; white-space: normal; }
  figure { padding: 12px 8px; }
  th, td { padding: 6px 10px; }
  /* Words wrap, numbers do not. */
  td:not(.number) { white-space: normal; }
  td:first-child:not(.number) { min-width: 100px; }
}
@media print { body { background: none; } section { break-inside: avoid; } }
)css";

}  // namespace pibinn
