import type { AlgorithmContext } from "@mrlm/kit/learning";
import type { ConversationSource } from "./conversation-source.ts";
import { readFileRows } from "./file-rows.ts";
import { lengthLimit } from "./length-limit.ts";
import type { SftOptions, SftSource } from "./options.ts";
import { targetSequence } from "./target-sequence.ts";

/** Opens the conversations of a file. Tokenises, and so checks, every row before training starts. */
export async function fileSource(
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
