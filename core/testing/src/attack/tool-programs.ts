import { textMessage } from "@mrlm/kit";
import type { Arena } from "./arena.ts";
import { argumentsOf, type Baselines } from "./baselines.ts";
import { diagonal, interleave } from "./orders.ts";
import { DistinctPrograms, inTurn, type Program } from "./program.ts";
import { type Call, callsOf, type KnownTool, swarmsOf } from "./tool-calls.ts";
import type { View } from "./view.ts";

/** Calls of one tool with the same result that are kept: what a call changes shows later. */
const MOST_EQUAL = 12;
const MOST_CALLS = 60;
/** Calls after which others are tried, and how many of these. */
const FIRST_CALLS = 36;
const MOST_NEXT = 100;

/** Calls that were tried in one task, with what an agent reads after them. */
export interface Probe {
  readonly tools: readonly KnownTool[];
  readonly calls: readonly Call[];
  readonly views: readonly View[];
}

/** Tries calls of each tool in one task, and keeps those without an error, and some that fail. */
export async function probeCalls(arena: Arena, { views, paths }: Baselines, most: number): Promise<Probe> {
  const given = argumentsOf(paths);
  const definitions = [...new Map(views.flatMap((view) => view.tools).map((tool) => [tool.name, tool])).values()];
  const tools = definitions
    .map((definition): KnownTool => ({ definition, given: given.get(definition.name) ?? [] }))
    .toSorted((one, other) => other.given.length - one.given.length);
  const distinct = new DistinctPrograms(views.filter(({ turn }) => turn === 0).slice(0, 6));
  const all = interleave(tools.map((tool) => callsOf(tool))).filter((call) => distinct.isNew(call));
  const tried = all.slice(0, Math.max(tools.length, most));
  const silent = textMessage("assistant", "");
  const played = await arena.playAll(
    tried.map((call) => ({ act: (view: View) => (view.turn === 0 ? (call.act(view) ?? silent) : silent), index: 0 })),
  );
  const [calls, failed, seen] = [[] as Call[], [] as Call[], [] as View[]];
  const known = new Map<string, number>();
  for (const [i, { turns }] of played.entries()) {
    const [call, view] = [tried[i] as Call, turns[1]?.view];
    const key = `${call.tool} ${view?.text("latest")}`;
    known.set(key, (known.get(key) ?? 0) + 1);
    if ((known.get(key) ?? 0) > MOST_EQUAL) continue;
    const isError = view?.messages.at(-1)?.parts.some((part) => part.type === "tool-result" && part.isError) ?? false;
    if (!isError) calls.push(call);
    else if (failed.filter(({ tool }) => tool === call.tool).length < MOST_EQUAL) failed.push(call);
    if (view !== undefined && known.get(key) === 1) seen.push(view);
  }
  return { tools, calls: [...calls.slice(0, MOST_CALLS), ...failed], views: seen.slice(0, 12) };
}

/** Returns programs of calls and of answers after them. */
export function toolPrograms({ tools, calls }: Probe, answers: readonly Program[]): Program[] {
  if (calls.length === 0) return [];
  const own = answers.map((answer) => ({ ...answer, family: "tool" as const }));
  const few = own.slice(0, 5);
  const then = (...steps: readonly Program[]): Program => inTurn("tool", steps);
  const pairs = calls
    .slice(0, FIRST_CALLS)
    .concat(calls.slice(-MOST_EQUAL))
    .map((call) =>
      interleave(tools.map((tool) => callsOf(tool, call)))
        .slice(0, MOST_NEXT)
        .map((next) => [call, next] as const),
    );
  const swarms = interleave(tools.map(swarmsOf));
  return interleave([
    calls.flatMap((call) => [call, then(call, few[1] ?? call)]),
    diagonal(calls, own).map(([call, answer]) => then(call, answer)),
    calls.slice(0, 8).flatMap((call) => few.map((answer) => then(call, call, call, answer))),
    interleave(pairs).flatMap(([call, next]) => few.slice(0, 2).map((answer) => then(call, next, answer))),
    interleave(pairs).flatMap(([call, next]) => few.slice(2).map((answer) => then(call, next, answer))),
    swarms.flatMap((swarm) => [swarm, ...few.map((answer) => then(swarm, answer))]),
  ]);
}
