import { type Determinism, type Message, MrlmError, type PluginContext } from "@mrlm/kit";
import { createModelClient, type CompletionOptions } from "@mrlm/model-client";
import type { RewardModelOptions } from "./options.ts";

/** Source of the scores of conversations. */
export interface ScoreSource {
  readonly determinism: Determinism;
  /** Returns the scores of the assistant messages, in their order; at least that of the last. Rejects where there is no finite score. */
  score(messages: readonly Message[], options: CompletionOptions): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Opens the source that the options name. Sends nothing yet. */
export function openSource(context: PluginContext, { model, endpoint }: RewardModelOptions): ScoreSource {
  if (endpoint === undefined) {
    const held = context.rewardModel(model as string);
    return {
      determinism: "full",
      score: (messages, { signal }) => held.score(messages, { signal }),
      close: () => Promise.resolve(),
    };
  }
  const client = createModelClient(endpoint, { dataPath: (path) => context.dataPath(path), logger: context.logger });
  return {
    determinism: client.determinism,
    score: async (messages, options) => readScores((await client.complete({ messages }, options)).text),
    close: () => client.close(),
  };
}

/** Reads `reward:1.5`, or the scores of several turns: `reward:0.2,1.5`. Throws ENDPOINT_OUTPUT_INVALID. */
export function readScores(text: string): number[] {
  const [, list] = /^\s*reward:(.+)$/s.exec(text) ?? [];
  const scores = (list ?? "").split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (scores.every(Number.isFinite)) return scores;
  throw new MrlmError(
    "ENDPOINT_OUTPUT_INVALID",
    `The endpoint answered with no score, but with: ${JSON.stringify(text.slice(0, 100))}`,
    { hint: "Name a reward model: one whose answers are `reward:SCORE`." },
  );
}
