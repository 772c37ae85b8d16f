import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { goTo, pathOf, withArguments } from "./address.ts";
import { useApi } from "./api.ts";
import { Chart } from "./chart.ts";
import { shown, shownTime, visible } from "../src/format.ts";
import { html } from "./html.ts";
import { linesOf, marksOf, type Panel, PANELS, seriesOf } from "../src/panels.ts";
import { Fact, Fault, Ready, Table, Text } from "./parts.ts";
import type { Finding, MetricSeries, RunConfig, RunDetail, RunMetrics, TaskRewards } from "./shapes.ts";
import { Sparkline } from "./sparkline.ts";

/** Curves, findings and configuration of a run. */
export function RunPage({ run, search }: { run: string; search: URLSearchParams }): VNode {
  const detail = useApi<RunDetail>(`/api${pathOf("runs", run)}`, run);
  const metrics = useApi<RunMetrics>(`/api${pathOf("runs", run, "metrics")}`, run);
  const given = search.get("view");
  return html`<${Ready} loaded=${detail}>${(value: RunDetail) => {
    const first = value.evaluation.length > 0 ? "evaluation" : "curves";
    const view = given ?? first;
    const tab = (name: string, label: string): VNode =>
      html`<a
        role="tab"
        aria-selected=${view === name}
        href=${withArguments(search, { view: name === first ? null : name })}
        >${label}</a
      >`;
    return html`<${RunHead} detail=${value} />
      <div class="tabs" role="tablist">
        ${value.evaluation.length > 0 && tab("evaluation", "Evaluation")}${tab("curves", "Curves")}${tab("all", "All metrics")}${tab("tasks", "Tasks")}${tab("findings", `Findings (${value.findings.length})`)}${tab("config", "Configuration")}
      </div>
      ${view === "evaluation" && value.evaluation.map(({ title, rows: [head = [], ...rows] }) => html`<${Table} caption=${title} head=${head} rows=${rows} texts=${3} />`)}
      ${view === "findings" && html`<${Findings} detail=${value} />`}
      ${view === "tasks" && html`<${Tasks} run=${run} />`} ${view === "config" && html`<${Configuration} run=${run} />`}
      ${
        (view === "curves" || view === "all") &&
        html`<${Ready} loaded=${metrics}>${({ series }: RunMetrics) => html`<${Curves} run=${run} search=${search} detail=${value} series=${series} isAll=${view === "all"} />`}</${Ready}>`
      }`;
  }}</${Ready}>`;
}

function RunHead({ detail }: { detail: RunDetail }): VNode {
  const { id, status, step, planned, stage, started, ended, directory, environments, error, seed } = detail;
  return html`<h1>${id} <span class="state ${status}">${status}</span></h1>
    ${error && html`<${Fault} fault=${{ code: error.code ?? "", message: error.message, hint: error.hint ?? undefined }} />`}
    <dl class="facts">
      <${Fact} name="step"
        >${shown(step)}${planned !== null && ` of ${shown(planned)}`}${planned !== null && html` <progress max=${planned} value=${step} aria-label="progress"></progress>`}<//
      >
      <${Fact} name="stage">${stage ?? "–"}<//>
      <${Fact} name="environments">${environments.join(", ") || "–"}<//>
      <${Fact} name="seed">${shown(seed)}<//>
      <${Fact} name="started">${shownTime(started)}<//>
      <${Fact} name="ended">${shownTime(ended)}<//>
      <${Fact} name="directory"><code>${directory}</code><//>
    </dl>`;
}

function Curves({
  run,
  search,
  detail,
  series,
  isAll,
}: {
  run: string;
  search: URLSearchParams;
  detail: RunDetail;
  series: readonly MetricSeries[];
  isAll: boolean;
}): VNode {
  const text = search.get("q") ?? "";
  const smoothing = Math.min(0.99, Math.max(0, Number(search.get("smooth") ?? 0) || 0));
  const isLog = search.get("log") === "1";
  const change = (changes: Record<string, string | null>): void => goTo(withArguments(search, changes), true);
  const all = useMemo(
    () =>
      series
        .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
        .map((each): Panel & { series: MetricSeries[] } => ({
          title: each.name,
          pattern: /^$/,
          rules: [],
          series: [each],
        })),
    [series, text],
  );
  const panels = isAll
    ? all.slice(0, 60)
    : PANELS.map((panel) => ({ ...panel, series: seriesOf(panel, series) })).filter((panel) => panel.series.length > 0);
  return html`<div class="bar">
      <label
        >Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value=${smoothing}
          onInput=${(event: InputEvent) => change({ smooth: (event.target as HTMLInputElement).value.replace(/^0$/, "") })}
        />
        ${smoothing}</label
      >
      <label
        ><input type="checkbox" checked=${isLog} onChange=${() => change({ log: isLog ? null : "1" })} />
        logarithmic</label
      >
      ${isAll && html`<label>Name <input type="search" value=${text} onInput=${(event: InputEvent) => change({ q: (event.target as HTMLInputElement).value })} /></label>`}
      <a class="button" download href=${`/api${pathOf("runs", run, "metrics")}?format=csv`}>CSV</a>
      <a class="button" download href=${`/api${pathOf("runs", run, "metrics")}?format=parquet`}>Parquet</a>
      <span class="quiet">Click a point to see the episodes of its step. Drag to zoom, double-click to see all.</span>
    </div>
    ${isAll && all.length > panels.length && html`<p class="quiet">The first ${panels.length} of ${all.length} metrics: search for a name.</p>`}
    ${series.length === 0 && html`<p>The run has no complete iteration yet.</p>`}
    <div class="charts">
      ${panels.map((panel) => html`<${PanelChart} key=${panel.title} run=${run} panel=${panel} detail=${detail} smoothing=${smoothing} isLog=${isLog} />`)}
    </div>`;
}

function PanelChart({
  run,
  panel,
  detail,
  smoothing,
  isLog,
}: {
  run: string;
  panel: Panel & { series: readonly MetricSeries[] };
  detail: RunDetail;
  smoothing: number;
  isLog: boolean;
}): VNode {
  const { title, series, unit, rules } = panel;
  const findings = detail.findings.filter(({ rule }) => rules.includes(rule));
  const props = useMemo(() => {
    const lines = linesOf(series);
    const marks = marksOf(detail.stages);
    const isEvaluation = series.every(({ kind }) => kind === "evaluation");
    const onChoose = (step: number): void =>
      goTo(
        `${pathOf("runs", run, "episodes")}?purpose=${isEvaluation ? "eval" : "train"}&run_step=${step}&sort=reward`,
      );
    return { title, lines, marks, xLabel: "step", unit, smoothing, isLog, onChoose };
  }, [series, smoothing, isLog, detail.stages.length]);
  return html`<div>
    <${Chart} ...${props} />${findings.map((finding) => html`<${FindingNote} finding=${finding} />`)}
  </div>`;
}

function FindingNote({ finding: { severity, what, advice, rule, stage } }: { finding: Finding }): VNode {
  return html`<div class="finding ${severity}">
    <strong>${severity}${stage && `, ${stage}`}</strong> ${visible(what)}
    <div class="quiet">Try: ${visible(advice)} (${rule})</div>
  </div>`;
}

function Findings({ detail: { findings, unexamined } }: { detail: RunDetail }): VNode {
  return html`${unexamined !== null && html`<p>The run could not be examined: ${unexamined}</p>`}
  ${unexamined === null && findings.length === 0 && html`<p>Nothing looks wrong.</p>`}
  ${findings.map((finding) => html`<${FindingNote} finding=${finding} />`)}`;
}

function Configuration({ run }: { run: string }): VNode {
  const loaded = useApi<RunConfig>(`/api${pathOf("runs", run, "config")}`);
  return html`<${Ready} loaded=${loaded}>${({ yaml }: RunConfig) => html`<${Text} text=${yaml} />`}</${Ready}>`;
}

/** Mean rewards of the groups of each task over time. */
function Tasks({ run }: { run: string }): VNode {
  const loaded = useApi<readonly TaskRewards[]>(`/api${pathOf("runs", run, "tasks")}`, run);
  return html`<${Ready} loaded=${loaded}>${(tasks: readonly TaskRewards[]) => {
    const rows = tasks.map(({ environment, task, difficulty, groups, rewards }) => {
      const values = rewards.flatMap(([, reward]) => reward ?? []);
      const episodes = new URLSearchParams({ purpose: "train", environment, task, sort: "run_step" });
      return [
        environment,
        html`<a href=${`${pathOf("runs", run, "episodes")}?${episodes}`}>${task}</a>`,
        html`${values.length > 0 && html`<${Sparkline} values=${values} label=${task} />`}`,
        shown(difficulty),
        shown(groups),
        shown(values[0] ?? null),
        shown(values.at(-1) ?? null),
      ];
    });
    const head = ["Environment", "Task", "Pass rate over time", "Difficulty", "Groups", "First", "Last"];
    return html`<${Table}
      caption="Mean reward of the groups of each task, those with most groups first"
      head=${head}
      texts=${3}
      rows=${rows}
    />`;
  }}</${Ready}>`;
}
