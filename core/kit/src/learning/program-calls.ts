import { type AgentId, isObject, type JsonObject, type Metrics, type TokenSpan, type Trajectory } from "@mrlm/spec";

const COUNTS = ["calls", "segments", "rewritten", "forked", "retried", "refused"] as const;
const ENDS = ["failed", "limited", "call_limited", "abandoned", "schema_failed"] as const;

/**
 * Returns the sampled tokens of an agent that the program of the episode has never read, because it had left its call. The reward does not depend on them. Ignores an `info.agent` of another
 * form: an environment may use the key itself.
 */
export function wastedSpans({ turns, info }: Pick<Trajectory, "turns" | "info">, agent: AgentId): TokenSpan[] {
  const wasted = programOf(info)?.["wasted"];
  if (!Array.isArray(wasted) || wasted.length === 0) return [];
  return turns.flatMap(({ agent: own, tokens }, i) =>
    own === agent && tokens !== undefined && wasted.includes(i) ? [tokens] : [],
  );
}

/** Returns metrics of episodes that are runs of a program, as means over these: numbers of its calls, and of tokens that it has not read. */
export function agentMetrics(played: readonly Trajectory[]): Metrics {
  const programs = played.flatMap((trajectory) => {
    const counts = programOf(trajectory.info);
    return counts === undefined ? [] : [{ trajectory, counts }];
  });
  const mean = (of: (each: (typeof programs)[number]) => number): Metrics[string] => ({
    sum: programs.reduce((sum, each) => sum + of(each), 0),
    count: programs.length,
  });
  if (programs.length === 0) return {};
  return {
    ...Object.fromEntries(
      [...COUNTS, ...ENDS].map((name) => [`agent/${name}`, mean(({ counts }) => Number(counts[name] ?? 0))]),
    ),
    "agent/wasted_tokens": mean(({ trajectory }) =>
      Object.keys(trajectory.agents)
        .flatMap((agent) => wastedSpans(trajectory, agent))
        .reduce((sum, { start, end }) => sum + end - start, 0),
    ),
  };
}

/** Returns what `agentEnvironment` states of the program of an episode; `undefined` for one that is no run of a program, also if its environment uses `info.agent` itself. */
export function programOf(info: Trajectory["info"]): JsonObject | undefined {
  const counts = info?.["agent"];
  if (!isObject(counts)) return undefined;
  const isCounted = COUNTS.every((name) => Number.isFinite((counts as JsonObject)[name]));
  return isCounted ? (counts as JsonObject) : undefined;
}
