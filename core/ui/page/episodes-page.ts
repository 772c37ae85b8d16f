import type { VNode } from "preact";
import { goTo, pathOf, withArguments } from "./address.ts";
import { useApi } from "./api.ts";
import { shown, visible } from "../src/format.ts";
import { html } from "./html.ts";
import { Ready } from "./parts.ts";
import type { EpisodeList, ListedValue } from "./shapes.ts";

const PAGE_ROWS = 100;
/** Columns of the table; the episode's own page has the others. */
const COLUMNS = [
  "run_step",
  "stage",
  "task",
  "role",
  "player",
  "reward",
  "advantage",
  "tokens",
  "turns",
  "stop_reason",
  "age",
  "unscored",
  "error",
  "state",
];
const NUMBERS = ["run_step", "reward", "advantage", "tokens", "turns", "age"];
/** Filters with a list of values. */
const CHOSEN = [
  "purpose",
  "stage",
  "environment",
  "role",
  "player",
  "policy",
  "state",
  "stop_reason",
  "unscored",
  "error",
];
/** Filters with a range. */
const RANGES = ["run_step", "reward", "age", "tokens", "turns"];

type Choices = Readonly<Record<string, readonly string[]>>;
/** Changes arguments of the address; the list begins again. */
type Change = (changes: Readonly<Record<string, string | null>>) => void;

/** Agents' parts of episodes, with filters. The address is the state. */
export function EpisodesPage({ run, search }: { run: string; search: URLSearchParams }): VNode {
  const base = `/api${pathOf("runs", run)}`;
  const query = new URLSearchParams(search);
  query.set("limit", String(PAGE_ROWS));
  const loaded = useApi<EpisodeList>(`${base}/episodes?${query}`, run);
  const choices = useApi<Choices>(`${base}/choices`);
  const change: Change = (changes) => goTo(withArguments(search, { offset: null, ...changes }), true);
  const exported = new URLSearchParams(search);
  exported.delete("offset");
  const exportUrl = (format: string): string =>
    `${base}/episodes?${new URLSearchParams([...exported, ["format", format]])}`;
  return html`<h1>Episodes</h1>
    <${Filters} search=${search} choices=${choices.value ?? {}} change=${change} />
    <div class="bar">
      <button aria-pressed=${search.get("signal") === "none"} onClick=${() => change({ signal: search.get("signal") === "none" ? null : "none" })}>Groups without signal</button>
      ${(["failed", "unscored", "scored"] as const).map((name) => html`<button aria-pressed=${search.get("outcome") === name} onClick=${() => change({ outcome: search.get("outcome") === name ? null : name })}>${name}</button>`)}
      <a class="button" href=${pathOf("runs", run, "episodes")}>Clear</a>
      <a class="button" download href=${exportUrl("csv")}>CSV</a>
      <a class="button" download href=${exportUrl("parquet")}>Parquet</a>
    </div>
    <${Ready} loaded=${loaded}>${(list: EpisodeList) =>
      html`<${Histogram} list=${list} change=${change} />
        <${EpisodeTable} run=${run} list=${list} search=${search} />
        <${Pages} list=${list} search=${search} />`}</${Ready}>`;
}

function Filters({ search, choices, change }: { search: URLSearchParams; choices: Choices; change: Change }): VNode {
  const component = [...search.keys()].find((name) => name.startsWith("component."));
  return html`<form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
    <${TextFilter}
      name="task"
      search=${search}
      change=${change}
      hint=${`task or split: ${choices["split"]?.join(", ") ?? ""}`}
    />
    ${RANGES.map((name) => html`<${TextFilter} name=${name} search=${search} change=${change} hint="0..1, 5.., 3" />`)}
    ${CHOSEN.filter((name) => (choices[name]?.length ?? 0) > 1 || search.has(name)).map(
      (name) =>
        html`<label
          >${name}
          <select onChange=${(event: Event) => change({ [name]: (event.target as HTMLSelectElement).value })}>
            <option value="">all</option>
            ${choices[name]?.map((value) => html`<option value=${value} selected=${search.get(name) === value}>${visible(value)}</option>`)}
          </select></label
        >`,
    )}
    ${
      (choices["component"]?.length ?? 0) > 0 &&
      html`<label
        >component
        <select
          onChange=${(event: Event) => change({ ...(component && { [component]: null }), [`component.${(event.target as HTMLSelectElement).value}`]: "0" })}
        >
          <option value="" disabled selected=${component === undefined}>any</option>
          ${choices["component"]?.map((name) => html`<option value=${name} selected=${component === `component.${name}`}>${visible(name)}</option>`)}
        </select></label
      >`
    }
    ${component !== undefined && html`<${TextFilter} name=${component} search=${search} change=${change} hint="0..1" />`}
  </form>`;
}

function TextFilter({
  name,
  search,
  change,
  hint,
}: {
  name: string;
  search: URLSearchParams;
  change: Change;
  hint: string;
}): VNode {
  return html`<label
    >${name}
    <input
      value=${search.get(name) ?? ""}
      placeholder=${hint}
      size=${name === "task" ? 16 : 8}
      onChange=${(event: Event) => change({ [name]: (event.target as HTMLInputElement).value.trim() })}
  /></label>`;
}

/** Rewards of all episodes of the filter. A bar is a filter for its rewards. */
function Histogram({ list, change }: { list: EpisodeList; change: Change }): VNode {
  const { total, scored, meanReward, histogram } = list;
  const { from, to, counts } = histogram;
  const most = Math.max(1, ...counts);
  const width = (to - from) / counts.length;
  return html`<div class="measures">
    <p>
      <strong>${shown(total)}</strong> parts of episodes, ${shown(scored)} with a reward, mean reward${" "}
      <strong>${shown(meanReward)}</strong>
    </p>
    ${
      counts.length > 0 &&
      html`<div class="histogram" role="group" aria-label="Histogram of rewards">
          ${counts.map((count, i) => {
            const [low, high] = [from + i * width, i === counts.length - 1 ? to : from + (i + 1) * width];
            return html`<button
              title=${`${shown(count)} from ${shown(low)} to ${shown(high)}`}
              aria-label=${`${shown(count)} with rewards from ${shown(low)} to ${shown(high)}`}
              onClick=${() => change({ reward: `${low}..${high}` })}
            >
              <span style=${{ height: `${Math.max(count > 0 ? 2 : 0, (count / most) * 100)}%` }}></span>
            </button>`;
          })}
        </div>
        <div class="axis"><span>${shown(from)}</span><span>reward</span><span>${shown(to)}</span></div>`
    }
  </div>`;
}

function EpisodeTable({ run, list, search }: { run: string; list: EpisodeList; search: URLSearchParams }): VNode {
  const { columns, rows } = list;
  const sort = search.get("sort") ?? "-run_step";
  const shownColumns = COLUMNS.filter(
    (name) => NUMBERS.includes(name) || rows.some((row) => row[columns.indexOf(name)] !== null),
  );
  const episode = columns.indexOf("episode_key");
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Episodes">
      <table>
        <thead>
          <tr>
            ${shownColumns.map((name) => {
              const direction = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
              const next = direction === "ascending" ? `-${name}` : name;
              return html`<th class=${NUMBERS.includes(name) ? "number" : ""} aria-sort=${direction}>
                <a href=${withArguments(search, { sort: next, offset: null })}
                  >${name}${direction === "none" ? "" : direction === "ascending" ? " ▲" : " ▼"}</a
                >
              </th>`;
            })}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr key=${`${row[episode]} ${row[columns.indexOf("agent")]}`}>
                ${shownColumns.map((name) => cellOf(run, name, row[columns.indexOf(name)] ?? null, String(row[episode])))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${rows.length === 0 && html`<p>No episode fulfils these conditions.</p>`}`;
}

function cellOf(run: string, name: string, value: ListedValue, episode: string): VNode {
  if (name === "task")
    return html`<td><a href=${pathOf("runs", run, "episodes", episode)}>${visible(String(value))}</a></td>`;
  if (NUMBERS.includes(name)) return html`<td class="number">${shown(value as number | null)}</td>`;
  return html`<td>${value === null ? "" : visible(String(value))}</td>`;
}

function Pages({ list, search }: { list: EpisodeList; search: URLSearchParams }): VNode {
  const offset = Number(search.get("offset") ?? 0) || 0;
  const to = Math.min(list.total, offset + PAGE_ROWS);
  const page = (at: number): string => withArguments(search, { offset: at <= 0 ? null : String(at) });
  return html`<nav class="bar" aria-label="Pages">
    ${offset > 0 && html`<a class="button" href=${page(offset - PAGE_ROWS)}>Earlier</a>`}
    <span>${shown(list.total === 0 ? 0 : offset + 1)} to ${shown(to)} of ${shown(list.total)}</span>
    ${to < list.total && html`<a class="button" href=${page(offset + PAGE_ROWS)}>Next</a>`}
  </nav>`;
}
