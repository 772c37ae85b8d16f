import { type AlgorithmContext, epochOrder, type JsonObject, MrlmError, weightedRoundRobin } from "@mrlm/kit/learning";
import type { ConversationSource } from "./conversation-source.ts";
import { demonstrationSources } from "./demonstrations.ts";
import { readFileRows } from "./file-rows.ts";
import { lengthLimit } from "./length-limit.ts";
import { type SftOptions, type SftSource, sourcesOf } from "./options.ts";
import { type TargetSequence, targetSequence } from "./target-sequence.ts";

/** All training data: sources in proportion to their weights, each in a random order without replacement in an epoch. */
export interface Conversations {
  take(count: number): Promise<readonly TargetSequence[]>;
  /** Passes over all conversations so far. */
  epochs(): number;
  readonly notices: readonly string[];
  state(): JsonObject;
  restore(state: JsonObject): void;
}

/** Opens the sources that the options name. Rejects with DATA_INVALID if a source has no conversation. */
export async function openConversations(context: AlgorithmContext, options: SftOptions): Promise<Conversations> {
  const opened = sourcesOf(options).map((source) =>
    source.path === undefined
      ? demonstrationSources(context, options, source)
      : fileSource(context, options, { ...source, path: source.path }),
  );
  const sources = (await Promise.all(opened)).flat();
  const notices = sources.flatMap((source) => source.notices);
  if (sources.length === 0 || sources.some(({ size }) => size === 0)) {
    throw new MrlmError("DATA_INVALID", ["A source has no conversation to train on.", ...notices].join(" "));
  }
  const orders = sources.map(({ size }, i) => epochOrder(size, i === 0 ? "sft/order" : `sft/order/${i}`, context.seed));
  const turns = weightedRoundRobin(sources.map(({ weight }) => weight));
  const positions = (): number[] => orders.map((order) => order.position());
  const total = sources.reduce((sum, { size }) => sum + size, 0);
  return {
    async take(count) {
      const indices = sources.map(() => [] as number[]);
      for (let i = 0; i < count; i++) {
        const next = turns.next();
        indices[next]?.push(...(orders[next]?.take(1) ?? []));
      }
      return (await Promise.all(sources.map((source, i) => source.get(indices[i] as number[])))).flat();
    },
    epochs: () => positions().reduce((sum, position) => sum + position, 0) / total,
    notices,
    state: () => ({ positions: positions(), drawn: [...turns.drawn()] }),
    restore(state) {
      turns.restore(state["drawn"] as number[]);
      for (const [i, order] of orders.entries()) order.seek((state["positions"] as number[])[i] as number);
    },
  };
}

/** Opens the conversations of a file. Tokenises, and so checks, every row before training starts. */
async function fileSource(
  context: AlgorithmContext,
  options: SftOptions,
  source: SftSource & { readonly path: string },
): Promise<ConversationSource> {
  const { path, min_reward, action_weight, observation_weight, weight } = source;
  const limit = await lengthLimit(context, options);
  const { rows, left } = readFileRows(await context.rows(path), path, context.renderer, min_reward);
  const reasons = Object.entries(left).map(([why, count]) => `${count} ${why}`);
  const fitting = rows
    .map(({ sequences, place }) => limit.apply(sequences, place))
    .filter((sequences) => sequences.length > 0);
  const kept = fitting
    .map((sequences) => sequences.map((sequence) => targetSequence(sequence, action_weight, observation_weight)))
    .filter((sequences) => sequences.some(({ weights }) => weights.length > 0));
  if (limit.touched > 0)
    reasons.push(
      `${limit.touched} longer than ${limit.tokens} tokens ${options.on_overlong === "skip" ? "left out" : "cut"}`,
    );
  if (kept.length < fitting.length) reasons.push(`${fitting.length - kept.length} without an observation after a turn`);
  return {
    size: kept.length,
    weight,
    get: async (indices) => indices.flatMap((index) => kept[index] ?? []),
    notices: reasons.length === 0 ? [] : [`${path}: ${kept.length} rows are used; ${reasons.join(", ")}.`],
  };
}
