import type { VNode } from "preact";
import { shown, visible } from "../src/format.ts";
import { laneRows, type LaneRow } from "../src/call-lanes.ts";
import { html } from "./html.ts";
import type { CallNode, EpisodeDetail } from "./shapes.ts";

const MATCHES: ReadonlyMap<string | undefined, string> = new Map([
  ["first", "begins"],
  ["continues", "continues"],
  ["cut", "continues after a stop string"],
  ["rewritten", "rewrites the past"],
  ["forked", "another conversation"],
  ["retry", "retry: the same answer"],
]);
/** Longest shown arguments of a call of a tool, in characters. */
const MAX_ARGUMENTS = 60;

/** Calls of a program in order of time. Each conversation has a line; a branch leaves that of its parent. */
export function CallsGraph({ detail }: { detail: EpisodeDetail }): VNode {
  const { calls = [] } = detail;
  const rows = laneRows(calls);
  const width = Math.max(1, ...rows.map(({ lane }) => lane + 1));
  return html`<p class="quiet">
      ● learnt, ◐ learnt in part, ○ not learnt, ↻ retry. Each line is a conversation, from top to bottom in order of
      time.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Calls of the program">
      <ol class="calls" style=${{ "--width": width }}>
        ${calls.map((node, i) => html`<li><${Lanes} row=${rows[i]} sign=${signOf(node)} /><${Call} node=${node} calls=${calls} detail=${detail} /></li>`)}
      </ol>
    </div>`;
}

function signOf({ match, sampled, learnt }: CallNode): string {
  if (match === "retry") return "↻";
  if (learnt === 0) return "○";
  return learnt < sampled ? "◐" : "●";
}

function Lanes({ row: { lane, from, above, below }, sign }: { row: LaneRow; sign: string }): VNode {
  const line = (kind: string, at: number): VNode => html`<i class=${kind} style=${{ "--lane": at }}></i>`;
  return html`<span class="lanes" aria-hidden="true">
    ${above.map((at) => line("above", at))}${below.map((at) => line("below", at))}
    ${from !== undefined && html`<i class=${from < lane ? "right" : "left"} style=${{ "--lane": Math.min(from, lane), "--span": Math.abs(lane - from) }}></i>`}
    <b style=${{ "--lane": lane }}>${sign}</b>
  </span>`;
}

function Call({ node, calls, detail }: { node: CallNode; calls: readonly CallNode[]; detail: EpisodeDetail }): VNode {
  const { turn, agent, match, parent, isBranch, at, seconds } = node;
  const { agents, turns } = detail.episode;
  const player = agents[agent]?.player;
  const of = parent === null ? "" : ` of turn ${calls[parent]?.turn}`;
  const facts = [
    ...(at === undefined ? [] : [`at ${shown(at)} s`]),
    ...(seconds === undefined ? [] : [`answered after ${shown(seconds)} s`]),
    ...(match === "retry" ? [] : [turns[turn]?.stopReason ?? "", learntOf(node)]),
  ];
  const relation = visible(MATCHES.get(match) ?? match ?? (isBranch ? "begins" : "continues"));
  return html`<div>
    <a href=${`#turn-${turn}`} onClick=${(event: Event) => event.stopPropagation()}>turn ${turn}</a>${" "}
    <strong>${visible(agent)}</strong>${" "}
    <span class="quiet">${player?.kind} ${visible(player?.name ?? "")}</span>${` ${relation}${isBranch ? of : ""}`}
    <div class="quiet">${facts.join(", ")}</div>
    ${match !== "retry" && toolsOf(detail, turn).map((text) => html`<div class="quiet">${visible(text)}</div>`)}
  </div>`;
}

function learntOf({ sampled, learnt, unlearnt }: CallNode): string {
  const left = Object.entries(unlearnt).map(([reason, count]) => `${shown(count)} not learnt: ${visible(reason)}`);
  if (sampled === 0) return "no tokens";
  return [`${shown(sampled)} tokens`, ...(learnt > 0 ? [`${shown(learnt)} learnt`] : []), ...left].join(", ");
}

/** Describes the calls of tools of a turn, with the size of their results in later turns. */
function toolsOf({ episode: { turns } }: EpisodeDetail, turn: number): string[] {
  const results = turns.slice(turn + 1).flatMap(({ messages }) => messages.flatMap(({ parts }) => parts));
  return (turns[turn]?.response.parts ?? []).flatMap((part) => {
    if (part.type === "malformed-call") return ["malformed call of a tool"];
    if (part.type !== "tool-call") return [];
    const given = JSON.stringify(part.arguments);
    const text = given.length > MAX_ARGUMENTS ? `${given.slice(0, MAX_ARGUMENTS)}…` : given;
    const result = results.find((each) => each.type === "tool-result" && each.id === part.id);
    if (result?.type !== "tool-result") return [`calls ${part.name} ${text}: no result`];
    const size = result.content.reduce((sum, each) => sum + (each.type === "text" ? each.text.length : 0), 0);
    return [`calls ${part.name} ${text}: ${result.isError ? "error" : "result"} of ${shown(size)} characters`];
  });
}
