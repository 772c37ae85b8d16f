import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { goTo, pathOf, withArguments } from "./address.ts";
import { type ApiFault, faultOf, request } from "./api.ts";
import type { Line } from "../src/chart/curves.ts";
import { Chart } from "./chart.ts";
import { shown } from "../src/format.ts";
import { html } from "./html.ts";
import { PANELS, seriesOf } from "../src/panels.ts";
import { Fault } from "./parts.ts";
import type { MetricSeries, RunConfig, RunMetrics } from "./shapes.ts";

const MAX_COMPARED = 8;
/** Series whose sums are the axis, in place of steps. */
const AXES = { step: undefined, tokens: "tokens/computed", seconds: "seconds/total" } as const;
type Axis = keyof typeof AXES;

interface ComparedRun {
  readonly id: string;
  readonly series: readonly MetricSeries[];
  readonly config: RunConfig["values"];
}

/** Curves of up to eight runs in one chart each, their last values, and the differences of their configurations. */
export function ComparePage({ search }: { search: URLSearchParams }): VNode {
  const ids = search.getAll("run").slice(0, MAX_COMPARED);
  const [runs, setRuns] = useState<readonly ComparedRun[]>([]);
  const [fault, setFault] = useState<ApiFault>();
  useEffect(() => {
    const ending = new AbortController();
    Promise.all(
      ids.map(async (id): Promise<ComparedRun> => {
        const [{ series }, { values: config }] = await Promise.all([
          request<RunMetrics>(`/api${pathOf("runs", id, "metrics")}`, { signal: ending.signal }),
          request<RunConfig>(`/api${pathOf("runs", id, "config")}`, { signal: ending.signal }),
        ]);
        return { id, series, config };
      }),
    ).then(setRuns, (error: unknown) => !ending.signal.aborted && setFault(faultOf(error)));
    return () => ending.abort();
  }, [ids.join("\n")]);
  const axis: Axis = Object.keys(AXES).includes(search.get("x") ?? "") ? (search.get("x") as Axis) : "step";
  const smoothing = Number(search.get("smooth") ?? 0) || 0;
  const charts = useMemo(
    () =>
      PANELS.map(({ title, unit, ...panel }) => ({
        title,
        unit,
        xLabel: axis,
        smoothing,
        isLog: false,
        lines: runs.flatMap(({ id, series }) =>
          seriesOf({ title, ...panel }, series).map((each): Line => ({
            label: `${id}: ${each.name}`,
            xs: alongAxis(each, series, axis),
            values: each.values,
          })),
        ),
      })).filter(({ lines }) => lines.length > 0),
    [runs, axis, smoothing],
  );
  return html`<h1>Compare</h1>
    ${fault && html`<${Fault} fault=${fault} />`}
    ${ids.length < 2 && html`<p>Choose two to eight runs on <a href="/">the list of runs</a>.</p>`}
    <div class="bar">
      <label
        >Axis
        <select
          value=${axis}
          onChange=${(event: Event) => goTo(withArguments(search, { x: (event.target as HTMLSelectElement).value }), true)}
        >
          ${Object.keys(AXES).map((name) => html`<option value=${name} selected=${name === axis}>${name}</option>`)}
        </select></label
      >
      <label
        >Smoothing
        <input
          type="range"
          min="0"
          max="0.99"
          step="0.01"
          value=${smoothing}
          onInput=${(event: InputEvent) => goTo(withArguments(search, { smooth: (event.target as HTMLInputElement).value }), true)}
        />
        ${smoothing}</label
      >
    </div>
    <div class="charts">${charts.map((chart) => html`<${Chart} key=${chart.title} ...${chart} />`)}</div>
    ${runs.length > 0 && html`<${LastValues} runs=${runs} /><${Differences} runs=${runs} />`}`;
}

/** Returns the place of each value: its step, or the sum of the tokens or seconds of all steps until then. */
function alongAxis({ steps }: MetricSeries, series: readonly MetricSeries[], axis: Axis): readonly number[] {
  const summed = series.find(
    ({ name }) => name === AXES[axis] || (AXES[axis] !== undefined && name.endsWith(`/${AXES[axis]}`)),
  );
  if (summed === undefined) return steps;
  let [sum, next] = [0, 0];
  return steps.map((step) => {
    while (next < summed.steps.length && (summed.steps[next] as number) <= step) sum += summed.values[next++] as number;
    return sum;
  });
}

function LastValues({ runs }: { runs: readonly ComparedRun[] }): VNode {
  const names = [
    ...new Set(
      runs.flatMap(({ series }) => PANELS.flatMap((panel) => seriesOf(panel, series).map(({ name }) => name))),
    ),
  ];
  return html`<h2>Last values</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="Last values">
      <table>
        <thead>
          <tr>
            <th>metric</th>
            ${runs.map(({ id }) => html`<th class="number"><a href=${pathOf("runs", id)}>${id}</a></th>`)}
          </tr>
        </thead>
        <tbody>
          ${names.map(
            (name) =>
              html`<tr>
                <td>${name}</td>
                ${runs.map(({ series }) => html`<td class="number">${shown(series.find((each) => each.name === name)?.values.at(-1))}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

/** Values of the configurations in which the runs differ. */
function Differences({ runs }: { runs: readonly ComparedRun[] }): VNode {
  const keys = [...new Set(runs.flatMap(({ config }) => Object.keys(config)))];
  const differing = keys.filter((key) => new Set(runs.map(({ config }) => config[key])).size > 1);
  return html`<h2>Differences of the configurations</h2>
    ${
      differing.length === 0
        ? html`<p>There are none.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Differences of the configurations">
            <table>
              <thead>
                <tr>
                  <th>key</th>
                  ${runs.map(({ id }) => html`<th>${id}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${differing.map(
                  (key) =>
                    html`<tr>
                      <td><code>${key}</code></td>
                      ${runs.map(({ config }) => html`<td><code>${config[key] ?? "–"}</code></td>`)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }`;
}
