import type { ResultFile } from '../harness/result-file.ts';
import { chartsOf } from './charts.ts';
import { introductionOf, subjectsTold } from './introductions.ts';
import { drawn } from './svg.ts';
import { escapedHtml } from './svg-parts.ts';
import { commonWorkload, evidenceTables, figuresTables, machineLine, ratiosTable, type Table } from './table.ts';

const style = `
:root{--ink:#1d2329;--soft:#5b6670;--paper:#fff;--grid:#e3e7eb;--ours:#c2410c;--kin:#f0a070;--peer:#7890a8;--good:#15803d;--bad:#b91c1c;--warn:#d97706;--dead:#6b21a8;
--hue0:#7890a8;--hue1:#4f8f6f;--hue2:#8f6fae;--hue3:#b59a3c;--hue4:#4a90b8;--hue5:#a8606a;--hue6:#c9b8a0;--hue7:#93b48b;--hue8:#b7a3cc;--hue9:#8f8f8f;--hue10:#d8a45a;--hue11:#6f7fc0}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#9aa5af;--paper:#14181c;--grid:#2b333b;--ours:#fb923c;--kin:#b5683a;--peer:#6f879e;--good:#3fa968;--bad:#f87171;--warn:#fbbf24;--dead:#c084fc}}
body{font:15px/1.5 system-ui,"DejaVu Sans",sans-serif;color:var(--ink);background:var(--paper);max-width:820px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{margin-top:3rem;border-top:1px solid var(--grid);padding-top:1rem}h3{margin:2rem 0 0;font-size:1.05rem}
.caption,.machine{color:var(--soft);font-size:.85rem;margin:.1rem 0 .6rem}
figure{margin:0}svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--ink)}svg .tick{fill:var(--soft);font-size:11px}svg .heading{font-weight:600}svg .small{font-size:9px}
svg .value{fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:3px}svg .halo{stroke:var(--paper);stroke-width:4;opacity:.75}svg.narrow{display:none}@media(max-width:700px){svg.wide{display:none}svg.narrow{display:block;max-width:500px}}
rect.control{fill:var(--grid);stroke:var(--soft);stroke-dasharray:3 2}circle.control{fill:var(--soft)}path.control{stroke:var(--soft)}rect.published{fill:none;stroke:var(--soft)}
rect.right{fill:var(--good)}rect.wrong{fill:var(--bad)}rect.failed{fill:var(--warn)}rect.crashed{fill:var(--dead)}rect.timed-out{fill:var(--hue4)}rect.skipped{fill:var(--grid)}
.reached{fill:var(--paper);stroke:var(--good);stroke-width:2}.said{margin:.2rem 0}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;font-size:.85rem;margin:.6rem 0}dt{font-weight:600;max-width:17rem}dd{margin:0;color:var(--soft)}@media(max-width:600px){dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}}
.grid{stroke:var(--grid)}.range{stroke:var(--ink);stroke-width:1.5}.mark{stroke:var(--ink);stroke-dasharray:4 3}
.line{fill:none;stroke-width:2}.fault{stroke:var(--bad);stroke-width:1.5;fill:none}.fault.fall{stroke-dasharray:3 3}text.fault{fill:var(--bad);stroke:none;font-weight:600}
${Array.from({ length: 12 }, (_, at) => `rect.hue${at},circle.hue${at}{fill:var(--hue${at})}path.hue${at}{stroke:var(--hue${at})}`).join('')}
rect.peer:not([class*=hue]){fill:var(--peer)}rect.shade{fill:var(--ours)}rect.blank{fill:none;stroke:var(--grid)}rect.kin,circle.kin{fill:var(--kin)}rect.ours,circle.ours{fill:var(--ours)}path.kin{stroke:var(--kin)}path.ours{stroke:var(--ours)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;margin:.6rem 0}td,th{padding:.2rem .6rem;border-bottom:1px solid var(--grid);text-align:left;white-space:nowrap;vertical-align:top}.evidence td{white-space:normal;overflow-wrap:break-word;min-width:3.5rem}
.number{text-align:right;font-variant-numeric:tabular-nums}summary{cursor:pointer;margin-top:1.2rem}
ul{padding-left:1.2rem}li.reached::marker{content:"✓ ";color:var(--good)}li.missed::marker{content:"✗ ";color:var(--bad)}
nav a{margin-right:1rem;white-space:nowrap}a{color:inherit}
`;

function tableHtml({ caption, headers, isNumber, rows }: Table): string {
  const cells = (tag: string, row: readonly string[]): string =>
    row
      .map((cell, at) => `<${tag}${isNumber[at] === true ? ' class="number"' : ''}>${escapedHtml(cell)}</${tag}>`)
      .join('');
  const body = rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('');
  const head = caption === '' ? '' : `<p class="caption">${escapedHtml(caption)}</p>`;
  return `${head}<div class="scroll"><table><thead><tr>${cells('th', headers)}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Notes tell a target's fate in their first words. */
function noteHtml(note: string): string {
  const fate = note.startsWith('target reached') ? ' class="reached"' : note.startsWith('target NOT') || /^(?:LOST|FAULT|failed)|trust nothing here/.test(note) ? ' class="missed"' : ''; // prettier-ignore
  return `<li${fate}>${escapedHtml(note)}</li>`;
}

function sectionHtml(result: ResultFile, id: string): string {
  const charts = chartsOf(result).map(
    (chart) =>
      `<figure><h3>${escapedHtml(chart.title)}</h3><p class="caption">${escapedHtml(chart.caption)}</p>${drawn(chart)}</figure>`,
  );
  const introduction = introductionOf(result.suite);
  const names = subjectsTold(result.samples.map(({ subject }) => subject));
  const ratios = ratiosTable(result);
  const tables = [...figuresTables(result), ...(ratios === undefined ? [] : [ratios])];
  return [
    `<section id="${id}"><h2>${escapedHtml(result.suite)}</h2>`,
    ...(introduction === undefined ? [] : [`<p>${escapedHtml(introduction)}</p>`]),
    `<p class="machine">${escapedHtml(machineLine(result))}<br>${escapedHtml(commonWorkload(result))}</p>`,
    ...(names.length === 0
      ? []
      : [
          `<dl>${names.map(({ names: of, meaning }) => `<dt>${escapedHtml(of)}</dt><dd>${escapedHtml(meaning)}</dd>`).join('')}</dl>`,
        ]),
    ...charts,
    ...evidenceTables(result).map(
      ({ title, ...table }) => `<div class="evidence"><h3>${escapedHtml(title)}</h3>${tableHtml(table)}</div>`,
    ),
    `<h3>What the run says of itself</h3><ul>${result.notes.map(noteHtml).join('')}</ul>`,
    `<details><summary>All figures</summary>${tables.map(tableHtml).join('')}</details></section>`,
  ].join('\n');
}

/** Results as one page that needs nothing else: no script, no font, no picture from elsewhere. */
export function htmlReport(results: readonly ResultFile[]): string {
  const ids = results.map((_, at) => `result-${at + 1}`);
  const links = results.map(({ suite }, at) => `<a href="#${ids[at] ?? ''}">${escapedHtml(suite)}</a>`);
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>Mound: measurements</title><style>${style}</style></head><body>`,
    '<h1>Mound: measurements</h1>',
    '<p class="caption">Bars and points are medians of rounds; lines with ends, and the figures in brackets, are the range of the rounds. Subjects of one picture were measured in the same run, but for figures that are marked as published by others.</p>',
    ...(results.length > 1 ? [`<nav>${links.join(' ')}</nav>`] : []),
    ...results.map((result, at) => sectionHtml(result, ids[at] ?? '')),
    '</body></html>',
    '',
  ].join('\n');
}
