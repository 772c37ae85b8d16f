import {
  type AlgorithmContext,
  MrlmError,
  type TaskId,
  type ToolDefinition,
  type TrainingEnvironment,
} from "@mrlm/kit/learning";
import type { ConversationSource } from "./conversation-source.ts";
import { lengthLimit } from "./length-limit.ts";
import type { SftOptions, SftSource } from "./options.ts";
import { type TargetSequence, targetSequence } from "./target-sequence.ts";

/** Number of demonstrations that are checked before training starts. Larger sets are sampled. */
const PROBED = 256;

/** Number of tasks whose sequences are kept for further passes. */
const KEPT = 4_096;

/** Opens the demonstrations of the environments: one source for each environment. They divide the weight of the source in proportion to theirs. */
export async function demonstrationSources(
  context: AlgorithmContext,
  options: SftOptions,
  source: SftSource,
): Promise<ConversationSource[]> {
  const total = context.environments.reduce((sum, { weight }) => sum + weight, 0);
  return Promise.all(
    context.environments.map((environment) =>
      demonstrationSource(context, options, environment, {
        ...source,
        weight: (source.weight * environment.weight) / total,
      }),
    ),
  );
}

async function demonstrationSource(
  context: AlgorithmContext,
  options: SftOptions,
  environment: TrainingEnvironment,
  source: SftSource,
): Promise<ConversationSource> {
  const { demonstrations = Number.POSITIVE_INFINITY, action_weight, observation_weight, weight } = source;
  const limit = await lengthLimit(context, options);
  const size = Math.min(demonstrations, environment.splits["train"] ?? 0);
  const kept = new Map<TaskId, readonly TargetSequence[]>();
  const demonstrate = async (tasks: readonly TaskId[]): Promise<TargetSequence[]> => {
    const unknown = [...new Set(tasks)].filter((task) => !kept.has(task));
    const found = unknown.length === 0 ? [] : await environment.demonstrate(unknown);
    const made = new Map<TaskId, readonly TargetSequence[]>();
    for (const { task, messages, tools } of found) {
      const supervised = context.renderer.supervise(messages, tools as readonly ToolDefinition[] | undefined);
      const sequences = limit
        .apply(supervised, `The demonstration of ${environment.ref.id} ${task}`)
        .map((sequence) => targetSequence(sequence, action_weight, observation_weight));
      (kept.size < KEPT ? kept : made).set(task, sequences);
    }
    return tasks.flatMap((task) => kept.get(task) ?? made.get(task) ?? []);
  };
  const step = Math.max(1, Math.floor(size / PROBED));
  const probed = await demonstrate(Array.from({ length: Math.min(size, PROBED) }, (_, i) => `train/${i * step}`));
  if (size > 0 && probed.length === 0) {
    throw new MrlmError(
      "DATA_INVALID",
      `There is nothing to learn in the demonstrations of ${environment.ref.id}: all ${Math.min(size, PROBED)} that were looked at are longer than ${limit.tokens} tokens.`,
      {
        hint: "Raise max_length, use a model with more positions, or choose on_overlong: truncate.",
      },
    );
  }
  if (probed.every(({ weights }) => weights.length === 0)) {
    throw new MrlmError(
      "DATA_INVALID",
      `There is nothing to learn in the demonstrations of ${environment.ref.id}: in none of them does an observation follow a turn.`,
      {
        hint: "Learn its actions (action_weight above 0), or give an environment of several turns.",
      },
    );
  }
  return {
    size,
    weight,
    get: (indices) => demonstrate(indices.map((index) => `train/${index}`)),
    notices:
      limit.touched === 0
        ? []
        : [
            `Demonstrations of more than ${limit.tokens} tokens are ${options.on_overlong === "skip" ? "left out" : "cut"}: ${limit.touched} of the first that were looked at.`,
          ],
  };
}
