import { type AlgorithmDefinition, MrlmError, type RolloutSampling } from "@mrlm/kit/learning";
import type { z } from "zod";
import { startDpo } from "./dpo-run.ts";
import { checkPairRows } from "./file-pairs.ts";
import { type LossEntry, lossEntry, lossName } from "./losses/index.ts";
import type { PairLogprobs, PreferenceLoss } from "./losses/pair-loss.ts";
import { type DpoSettings, optionsWithLoss } from "./options.ts";
import { holdsReference } from "./reference.ts";

/** Returns the definition of DPO with a choice of losses. */
export function defineDpo<Options>(
  own: Pick<AlgorithmDefinition<Options>, "id" | "description" | "options">,
  settingsOf: (options: Options) => DpoSettings,
): AlgorithmDefinition<Options> {
  return {
    ...own,
    iterations: (options) => settingsOf(options).steps,
    plays: (options) => {
      const { data, prompts, group_size, collect_every } = settingsOf(options);
      return data === undefined
        ? { name: "dpo", groups: prompts, groupSize: group_size, every: collect_every }
        : undefined;
    },
    memory: (options) => ({ reference: holdsReference(settingsOf(options)), unitSequences: 2 }),
    files: (options) => [settingsOf(options).data ?? []].flat(),
    checkRows: (options, path, rows) => checkPairRows(rows, path, settingsOf(options)),
    validate: (options, _environments, sampling) => validate(settingsOf(options), sampling),
    create: (context, options) => startDpo(context, settingsOf(options)),
  };
}

/** Definition of DPO with a loss of its own. */
export interface OwnLossDefinition<Shape extends z.ZodRawShape>
  extends Pick<AlgorithmDefinition, "id" | "description">, Partial<Pick<LossEntry, "needs" | "isMean">> {
  /** Options that the loss reads, beside those of `dpo@1` that its losses do not read. */
  readonly options?: Shape;
  /** Returns the loss of one pair, and its derivatives with respect to the policy's two sums of log-probabilities. */
  readonly loss: (
    pair: PairLogprobs,
    options: z.output<z.ZodObject<Shape>> & { readonly beta: number },
  ) => PreferenceLoss;
}

/** Returns an algorithm that is `dpo@1` in all but the loss of a pair: pairs, reference, metrics and resuming stay. */
export function dpoWithLoss<Shape extends z.ZodRawShape>({
  id,
  description,
  options: shape = {} as Shape,
  loss,
  needs = "reference",
  isMean = false,
}: OwnLossDefinition<Shape>): AlgorithmDefinition {
  return defineDpo<unknown>({ id, description, options: optionsWithLoss(shape, { loss: id, needs }) }, (options) => ({
    // The compiler does not see that the schema has checked the options, nor that only losses of this package read the missing ones.
    ...(options as DpoSettings),
    loss: { name: id, loss: (pair) => loss(pair, options as never), needs, isMean, takesSingles: false, options: [] },
  }));
}

function validate(options: DpoSettings, sampling: RolloutSampling): void {
  if (options.data === undefined && sampling.temperature <= 0) {
    throw new MrlmError(
      "CONFIG_INVALID",
      "sampling.temperature is 0: all episodes of a group would be the same, and none better than another.",
      { hint: "Set a temperature above 0 under `sampling`, or learn from pairs of a file (`data`)." },
    );
  }
  if (lossEntry(options.loss).needs === "divergence" && options.batch_size < 2) {
    throw new MrlmError(
      "CONFIG_INVALID",
      `${lossName(options.loss)} estimates the divergence from the other answers of the batch: batch_size must be at least 2.`,
    );
  }
}
