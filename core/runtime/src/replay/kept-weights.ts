import { MrlmError, type PolicyId } from "@mrlm/spec";
import type { ModelInfo, Trainer } from "@mrlm/spec/host";
import type { RecordedWeights } from "@mrlm/store";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { releaseModels } from "../models/loaded-policies.ts";
import { policyOptions } from "../prepare/model-source.ts";
import { loadState } from "../resume/checkpoint-state.ts";
import { type Checkpoint, openCheckpoint } from "../run/checkpoints.ts";
import type { RunDirectory } from "../run/run-directory.ts";

/** Place of the weights of one publication: a checkpoint, or a directory. */
export type KeptWeights = { readonly checkpoint: Checkpoint } | { readonly directory: string };

/** Published weights of a run, with the places where they were kept. */
export class PublishedHistory {
  readonly #rows: readonly RecordedWeights[];
  readonly #checkpoints: ReadonlyMap<string, Checkpoint>;

  private constructor(rows: readonly RecordedWeights[], checkpoints: ReadonlyMap<string, Checkpoint>) {
    this.#rows = rows;
    this.#checkpoints = checkpoints;
  }

  /** Reads the checkpoints of a run. An incomplete one is reported and left out. */
  static async read(
    run: RunDirectory,
    config: ResolvedConfig,
    rows: readonly RecordedWeights[],
    onNotice: (text: string) => void,
  ): Promise<PublishedHistory> {
    const checkpoints = new Map<string, Checkpoint>();
    for (const name of run.checkpoints.names())
      try {
        const checkpoint = await openCheckpoint(run.checkpoints.path(name));
        const { published } = loadState(checkpoint.path, checkpoint.state, config).state;
        for (const [policy, weights] of Object.entries(published))
          if (weights !== null) checkpoints.set(`${policy} ${weights.checksum}`, checkpoint);
      } catch (error) {
        if (!MrlmError.hasCode(error, "CHECKPOINT_INCOMPLETE")) throw error;
        onNotice(error.message);
      }
    return new PublishedHistory(rows, checkpoints);
  }

  /** Returns the publication that a process of the run sampled from. A resumed run samples from versions of earlier processes until it publishes. */
  find(policy: PolicyId, version: number, incarnation: number): RecordedWeights | undefined {
    return this.#rows.findLast(
      (row) => row.policy === policy && row.version === version && row.incarnation <= incarnation,
    );
  }

  /** Returns the place of published weights; `undefined` where they were not kept. */
  place({ policy, checksum, location }: RecordedWeights): KeptWeights | undefined {
    if (location !== null) return { directory: location };
    const checkpoint = this.#checkpoints.get(`${policy} ${String(checksum)}`);
    return checkpoint === undefined ? undefined : { checkpoint };
  }
}

/** Loads published weights in place of all models of the engine. Throws CHECKPOINT_MISMATCH where a checkpoint holds others. */
export async function loadKept(
  engine: Trainer,
  place: KeptWeights,
  { policy, checksum }: RecordedWeights,
  config: ResolvedConfig,
): Promise<ModelInfo> {
  await releaseModels(engine);
  if ("directory" in place) {
    const { lora: _, ...options } = policyOptions(config, policy);
    const source = { kind: "directory", path: place.directory } as const;
    return (await engine.createModel({ ...options, source, trainable: false })).info;
  }
  const infos = await engine.load(place.checkpoint.engineDirectory);
  const { checksum: found } = await engine.publish(policy);
  const info = infos.find(({ model }) => model === policy);
  if (info !== undefined && found === checksum) return info;
  throw new MrlmError(
    "CHECKPOINT_MISMATCH",
    `Checkpoint ${place.checkpoint.path} has weights of policy ${policy} with checksum ${found}, and the run recorded ${String(checksum)}.`,
    { hint: "Restore the checkpoint from a copy, or remove it to verify by the others." },
  );
}
