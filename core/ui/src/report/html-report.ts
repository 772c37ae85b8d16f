import type { Finding } from "@mrlm/runtime";
import { isObject, type JsonValue } from "@mrlm/spec";
import type { ShownTable } from "../evaluation-tables.ts";
import { escaped, svgChart } from "../chart/svg-chart.ts";
import { shown } from "../format.ts";
import { linesOf, marksOf, PANELS, seriesOf } from "../panels.ts";
import { runConfig } from "../reader/run-config.ts";
import { runMetrics } from "../reader/run-metrics.ts";
import { type RunDetail, runDetail } from "../reader/run-summary.ts";

/** Episodes of a report: a heading, and the text of each. */
export interface ReportedEpisodes {
  readonly heading: string;
  readonly texts: readonly string[];
}

/**
 * Writes a run as one page that needs no other file and has no script: state, findings, curves, the given episodes and the configuration.
 * Throws RUN_NOT_FOUND or DATA_INVALID.
 */
export function htmlReport(run: string, episodes: readonly ReportedEpisodes[]): string {
  const detail = runDetail(run);
  const { series } = runMetrics(run);
  const marks = marksOf(detail.stages);
  const charts = PANELS.map(({ title, unit, ...panel }) => ({
    title,
    lines: linesOf(seriesOf({ title, ...panel }, series)),
    xLabel: "step",
    unit,
    smoothing: 0,
    isLog: false,
    marks,
  })).filter(({ lines }) => lines.length > 0);
  const title = `${detail.name === "" ? "Run" : detail.name}: ${detail.status}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${facts(detail)}
${detail.error === null ? "" : `<p class="problem"><strong>${escaped(detail.error.code ?? "")}</strong> ${escaped(detail.error.message)} ${escaped(detail.error.hint ?? "")}</p>`}
${detail.evaluation.map(tablePart).join("\n")}
<h2>Findings</h2>
${findings(detail)}
<h2>Curves</h2>
${charts.length === 0 ? "<p>The run has no complete iteration.</p>" : `<div class="charts">${charts.map(svgChart).join("\n")}</div>`}
${episodes.map(episodesPart).join("\n")}
<h2>Configuration</h2>
<pre>${escaped(configText(run))}</pre>
</body>
</html>
`;
}

const STYLE = `:root{color-scheme:light dark}
body{font:14px/1.45 system-ui,sans-serif;margin:16px auto;max-width:1340px;padding:0 16px}
h1{font-size:20px}h2{font-size:16px;margin-top:28px}
dl{display:flex;flex-wrap:wrap;gap:8px 24px}dt{font-size:12px;opacity:.75}dd{margin:0;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:20px}
svg{width:100%;height:auto}
pre{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;font:13px/1.45 ui-monospace,monospace}
details{border-top:1px solid #8888;padding:4px 0}
.scroll{overflow-x:auto}table{border-collapse:collapse}th,td{padding:2px 10px 2px 0;text-align:left;white-space:nowrap}
.finding,.problem{border-left:3px solid #a37800;padding:4px 10px;overflow-wrap:anywhere}
.problem{border-color:#c2410c}`;

function facts({ step, planned, stage, environments, seed, started, ended, record }: RunDetail): string {
  const rows: readonly (readonly [string, string])[] = [
    ["step", planned === null ? shown(step) : `${shown(step)} of ${shown(planned)}`],
    ["stage", stage ?? "–"],
    ["environments", environments.join(", ") || "–"],
    ["seed", shown(seed)],
    ["started", started ?? "–"],
    ["ended", ended ?? "–"],
    ["versions", versionsText(record["versions"])],
  ];
  return `<dl>${rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`).join("")}</dl>`;
}

/** Lists the versions of the parts and of the engine, without those of plugins. */
function versionsText(versions: JsonValue | undefined): string {
  if (!isObject(versions)) return "–";
  const { engine, ...parts } = versions;
  const ofEngine = typeof engine === "object" && engine !== null ? Object.entries(engine) : [];
  return [...Object.entries(parts), ...ofEngine]
    .flatMap(([name, version]) => (typeof version === "string" ? [`${name} ${version}`] : []))
    .join(", ");
}

function findings({ findings: found, unexamined }: RunDetail): string {
  if (unexamined !== null) return `<p>The run could not be examined: ${escaped(unexamined)}</p>`;
  return found.length === 0 ? "<p>Nothing looks wrong.</p>" : found.map(findingPart).join("\n");
}

function findingPart({ severity, stage, what, advice, rule }: Finding): string {
  const place = stage === undefined ? severity : `${severity}, ${stage}`;
  return `<div class="finding ${severity}"><strong>${escaped(place)}</strong> ${escaped(what)}<br>Try: ${escaped(advice)} (${escaped(rule)})</div>`;
}

function tablePart({ title, rows: [heading = [], ...rows] }: ShownTable): string {
  const cells = (tag: "td" | "th", row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  const body = rows.map((row) => cells("td", row)).join("\n");
  return `<h2>${escaped(title)}</h2>\n<div class="scroll"><table>\n${cells("th", heading)}\n${body}\n</table></div>`;
}

function episodesPart({ heading, texts }: ReportedEpisodes): string {
  const parts = texts.map((text) => {
    const [first = "", second = "", ...rest] = text.split("\n");
    return `<details><summary>${escaped(`${first}: ${second.trim()}`)}</summary><pre>${escaped(rest.join("\n"))}</pre></details>`;
  });
  return `<h2>${escaped(heading)}</h2>\n${parts.length === 0 ? "<p>There are none.</p>" : parts.join("\n")}`;
}

function configText(run: string): string {
  try {
    return runConfig(run).yaml;
  } catch (error) {
    return `It cannot be read: ${(error as Error).message}`;
  }
}
