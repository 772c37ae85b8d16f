import type { VNode } from "preact";
import { goTo, pathOf, withArguments } from "./address.ts";
import { useApi } from "./api.ts";
import { shown, shownTime } from "../src/format.ts";
import { html } from "./html.ts";
import { Ready } from "./parts.ts";
import type { RunSummary } from "./shapes.ts";
import { Sparkline } from "./sparkline.ts";

/** Runs that can be compared at a time. */
const MAX_COMPARED = 8;

/** All runs below the directories of the server. */
export function RunsPage({ search }: { search: URLSearchParams }): VNode {
  const loaded = useApi<{ readonly runs: readonly RunSummary[] }>("/api/runs");
  const text = search.get("q") ?? "";
  const chosen = search.getAll("run");
  const choose = (id: string): void => {
    const next = new URLSearchParams(search);
    next.delete("run");
    for (const each of chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id])
      next.append("run", each);
    goTo(`/?${next}`, true);
  };
  return html`<h1>Runs</h1>
    <div class="bar">
      <label>Search <input type="search" value=${text} onInput=${(event: InputEvent) => goTo(withArguments(search, { q: (event.target as HTMLInputElement).value }), true)} /></label>
      <a class="button" aria-disabled=${chosen.length < 2} href=${`/compare?${new URLSearchParams(chosen.map((id) => ["run", id]))}`}>Compare ${chosen.length} runs</a>
    </div>
    <${Ready} loaded=${loaded}>${({ runs }: { runs: readonly RunSummary[] }) => {
      const found = runs.filter(({ id, status, stage }) =>
        `${id} ${status} ${stage}`.toLowerCase().includes(text.toLowerCase()),
      );
      if (runs.length === 0)
        return html`<p>There is no run yet. Start one with <code>mrlm train --config FILE</code>; it appears here.</p>`;
      return html`<div class="scroll" tabindex="0" role="region" aria-label="Runs">
        <table>
          <thead>
            <tr>
              <th><span class="hidden">Compare</span></th>
              <th>Run</th>
              <th>State</th>
              <th>Stage</th>
              <th class="number">Step</th>
              <th>Curve</th>
              <th class="number">Last value</th>
              <th>Started</th>
            </tr>
          </thead>
          <tbody>
            ${found.map((run) => html`<${RunRow} key=${run.id} run=${run} isChosen=${chosen.includes(run.id)} mayChoose=${chosen.length < MAX_COMPARED} onChoose=${() => choose(run.id)} />`)}
          </tbody>
        </table>
      </div>`;
    }}</${Ready}>`;
}

function RunRow({
  run,
  isChosen,
  mayChoose,
  onChoose,
}: {
  run: RunSummary;
  isChosen: boolean;
  mayChoose: boolean;
  onChoose: () => void;
}): VNode {
  const { id, status, stage, step, planned, curve, started, error } = run;
  return html`<tr>
    <td>
      <input
        type="checkbox"
        aria-label=${`Compare ${id}`}
        checked=${isChosen}
        disabled=${!isChosen && !mayChoose}
        onChange=${onChoose}
      />
    </td>
    <td>
      <a href=${pathOf("runs", id, ...(status === "store" ? ["episodes"] : []))}>${id}</a
      >${error && html`<div class="small-fault">${error.code} ${error.message.slice(0, 160)}</div>`}
    </td>
    <td><span class="state ${status}">${status}</span></td>
    <td>${stage ?? "–"}</td>
    <td class="number">${shown(step)}${planned !== null && html`<span class="quiet"> of ${shown(planned)}</span>`}</td>
    <td>${curve && html`<${Sparkline} values=${curve.values} label=${curve.metric} />`}</td>
    <td class="number">${curve && html`${shown(curve.values.at(-1))} <span class="quiet">${curve.metric}</span>`}</td>
    <td>${shownTime(started)}</td>
  </tr>`;
}
