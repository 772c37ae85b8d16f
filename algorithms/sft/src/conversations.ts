import type { AlgorithmContext, SupervisedSequence, TaskId, ToolDefinition, TrainingEnvironment } from "@mrlm/spec";
import { readFileRows } from "./file-rows.ts";
import { lengthLimit } from "./length-limit.ts";
import type { SftOptions } from "./options.ts";

/** Indexable conversations; an index is always the same one. */
export interface Conversations {
  readonly size: number;
  get(indices: readonly number[]): Promise<readonly SupervisedSequence[]>;
  /** What someone should know of them, in words. */
  readonly notices: readonly string[];
}

/** Demonstrations that are looked at before training begins: all of a small set, a sample of a generated one. */
const PROBED = 256;

/** Conversations of a file. Every row is turned into tokens, and so checked, before training begins. */
export async function conversationsFromFile(context: AlgorithmContext, options: SftOptions & { readonly data: string }): Promise<Conversations> {
  const { data: path, on_overlong } = options;
  const limit = await lengthLimit(context, options);
  const { rows, left } = readFileRows(await context.rows(path), path, context.renderer, options.min_reward);
  const kept = rows.map(({ sequences, place }) => limit.apply(sequences, place)).filter((sequences) => sequences.length > 0);
  const reasons = Object.entries(left).map(([why, count]) => `${count} ${why}`);
  if (limit.touched > 0) reasons.push(`${limit.touched} longer than ${limit.tokens} tokens ${on_overlong === "skip" ? "left out" : "cut"}`);
  return {
    size: kept.length,
    get: async (indices) => indices.flatMap((index) => kept[index] as readonly SupervisedSequence[]),
    notices: reasons.length === 0 ? [] : [`${path}: ${kept.length} rows are learnt from; ${reasons.join(", ")}.`],
  };
}

/** The environments' own demonstrations: environment e has a share of the indices in proportion to its weight. */
export async function conversationsFromEnvironments(context: AlgorithmContext, options: SftOptions): Promise<Conversations> {
  const limit = await lengthLimit(context, options);
  const sources = context.environments.map((environment) => ({
    environment,
    size: Math.min(options.demonstrations ?? Number.POSITIVE_INFINITY, environment.splits["train"] ?? 0),
  }));
  const demonstrate = async (environment: TrainingEnvironment, tasks: readonly TaskId[]): Promise<SupervisedSequence[]> => {
    const found = tasks.length === 0 ? [] : await environment.demonstrate(tasks);
    return found.flatMap(({ task, messages, tools }) => limit.apply(context.renderer.supervise(messages, tools as readonly ToolDefinition[] | undefined), `The demonstration of ${environment.ref.id} ${task}`));
  };
  for (const { environment, size } of sources) {
    const step = Math.max(1, Math.floor(size / PROBED));
    await demonstrate(environment, Array.from({ length: Math.min(size, PROBED) }, (_, i) => `train/${i * step}`));
  }
  return {
    size: sources.reduce((sum, source) => sum + source.size, 0),
    async get(indices) {
      const wanted = sources.map(() => [] as TaskId[]);
      for (const index of indices) {
        let rest = index;
        const at = sources.findIndex((source) => (rest -= source.size) < 0);
        wanted[at]?.push(`train/${rest + (sources[at]?.size ?? 0)}`);
      }
      return (await Promise.all(sources.map(({ environment }, at) => demonstrate(environment, wanted[at] as TaskId[])))).flat();
    },
    notices: limit.touched === 0 ? [] : [`Demonstrations of more than ${limit.tokens} tokens are ${options.on_overlong === "skip" ? "left out" : "cut"}: ${limit.touched} of the first that were looked at.`],
  };
}
