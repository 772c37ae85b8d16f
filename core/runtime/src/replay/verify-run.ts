import { randomStream } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { type RecordedWeights, type SegmentPlace, StoredSegments, type StoredTokens } from "@mrlm/store";
import { samplingOf } from "../config/policies.ts";
import { releaseModels } from "../models/loaded-policies.ts";
import type { RecordedRun } from "./open-replay.ts";
import { percent } from "../diagnosis/finding.ts";
import { loadKept, PublishedHistory } from "./kept-weights.ts";

export interface VerifyOptions {
  readonly records: RecordedRun;
  /** Called once something can be verified. */
  openEngine(): Promise<Engine>;
  /** Number of segments to verify, drawn from those that can be. */
  readonly sample: number;
  readonly seed: number;
  /** Largest accepted difference in nats. Default: 1e-4 for a model in float32; other dtypes have none. */
  readonly tolerance?: number;
  readonly onNotice: (text: string) => void;
  readonly stop?: AbortSignal;
}

/** Result of a verification in which no difference is above the tolerance. */
export interface VerifyResult {
  /** Segments of training episodes with tokens in the store. */
  readonly segments: number;
  /** Segments that can be verified: those of kept weights, drawn from the whole distribution. */
  readonly verifiable: number;
  readonly verified: number;
  readonly tokens: number;
  /** Segments with tokens of versions whose weights were not kept. */
  readonly withoutWeights: number;
  /** Segments that were drawn from a cut distribution (`top_p`, `top_k`, `min_tokens`), which the trainer does not compute. */
  readonly cutDistribution: number;
  /** Largest difference in nats. */
  readonly largest: number;
  readonly tolerance: number;
}

/** Drawn segment, with the publications that its tokens were drawn from. */
interface Drawn extends StoredTokens {
  readonly place: SegmentPlace;
  readonly weights: readonly RecordedWeights[];
}

interface Difference {
  readonly place: SegmentPlace;
  readonly token: number;
  readonly version: number;
  readonly stored: number;
  readonly computed: number;
  readonly size: number;
}

/** Tolerance of float32: sampler and trainer add the same products in other orders. */
const FLOAT32_TOLERANCE = 1e-4;
/** Segments of one forward pass. */
const SEGMENTS_OF_A_PASS = 32;

/**
 * Compares log-probabilities of sampled segments with those of the weights that drew them. Rejects with LOGPROBS_DIFFER, naming the largest difference, and with
 * DATA_INVALID where no segment can be verified.
 */
export async function verifyRun(options: VerifyOptions): Promise<VerifyResult> {
  const { records, sample, seed, onNotice, stop } = options;
  const { run, loaded, log } = records;
  const { config } = loaded;
  const history = await PublishedHistory.read(run, config, log.weights(), onNotice);
  const store = new StoredSegments(run.store);
  let opened: Engine | undefined;
  try {
    const places = store.places();
    const whole = places.filter((place) => isWhole(samplingOfPlace(place)));
    const verifiable = whole.filter(isKept);
    const counts = {
      segments: places.length,
      verifiable: verifiable.length,
      withoutWeights: whole.length - verifiable.length,
      cutDistribution: places.length - whole.length,
    };
    if (verifiable.length === 0) throw nothing(counts);
    const known = randomStream("verify", seed).shuffle(verifiable).slice(0, sample).map(read);
    onNotice(
      `${verifiable.length} of ${places.length} segments (${percent(verifiable.length / places.length)}) can be verified; ${known.length} of them are drawn.`,
    );
    const engine = (opened = await options.openEngine());
    const byWeights = Map.groupBy(
      known.flatMap((segment) => segment.weights.map((weights) => ({ segment, weights }))),
      ({ weights }) => `${weights.policy} ${String(weights.checksum)} ${weights.location ?? ""}`,
    );
    let tolerance = options.tolerance ?? FLOAT32_TOLERANCE;
    let tokens = 0;
    let wrong = 0;
    let largest: Difference | undefined;
    for (const entries of byWeights.values()) {
      const [{ weights }] = entries as [(typeof entries)[number]];
      const info = await loadKept(
        engine,
        history.place(weights) as NonNullable<ReturnType<typeof history.place>>,
        weights,
        config,
      );
      tolerance = options.tolerance ?? toleranceOf(info.dtype);
      for (const [temperature, same] of Map.groupBy(
        entries,
        ({ segment }) => samplingOfPlace(segment.place).temperature,
      ))
        for (let start = 0; start < same.length; start += SEGMENTS_OF_A_PASS) {
          if (stop?.aborted === true)
            throw new MrlmError("CANCELLED", "The verification was stopped.", { cause: stop.reason });
          const part = same.slice(start, start + SEGMENTS_OF_A_PASS);
          const outputs = await engine.forward({
            model: info.model,
            units: part.map(({ segment: { tokens: of, mask } }) => ({ sequences: [{ tokens: of, mask }] })),
            outputs: { logprob: true },
            temperature,
          });
          for (const [i, entry] of part.entries()) {
            const differences = compare(
              entry.segment,
              entry.weights.version,
              outputs[i]?.logprob ?? new Float32Array(),
            );
            tokens += differences.length;
            wrong += differences.filter(({ size }) => size > tolerance).length;
            for (const each of differences) if (largest === undefined || each.size > largest.size) largest = each;
          }
        }
    }
    if (wrong > 0 && largest !== undefined) throw differs(largest, { wrong, tokens, tolerance });
    return { ...counts, verified: known.length, tokens, largest: largest?.size ?? 0, tolerance };
  } finally {
    store.close();
    if (opened !== undefined) await releaseModels(opened);
  }

  function samplingOfPlace({ learner, policy }: SegmentPlace): ReturnType<typeof samplingOf> {
    return samplingOf(config, policy, config.stages[Number.parseInt(learner, 10)]);
  }

  function read(place: SegmentPlace): Drawn {
    return { ...store.read(place), place, weights: weightsOf(place).filter((each) => each !== undefined) };
  }

  function weightsOf({ policy, incarnation, sampledBy }: SegmentPlace): (RecordedWeights | undefined)[] {
    return sampledBy.map((version) => history.find(policy, version, incarnation));
  }

  /** Whether all weights that drew a segment were kept. */
  function isKept(place: SegmentPlace): boolean {
    const weights = weightsOf(place);
    return weights.length > 0 && weights.every((each) => each !== undefined && history.place(each) !== undefined);
  }
}

/** Returns the difference at each masked token of a version. */
function compare(
  { place, tokens, mask, versions, logprobs }: Drawn,
  version: number,
  computed: Float32Array,
): Difference[] {
  const masked = Array.from(tokens.keys()).filter((i) => mask[i] === 1);
  return masked.flatMap((token, i) => {
    if (versions[token] !== version) return [];
    const [stored, expected] = [logprobs[token] as number, computed[i] ?? Number.NaN];
    const size = Math.abs(stored - expected);
    return [{ place, token, version, stored, computed: expected, size: Number.isNaN(size) ? Infinity : size }];
  });
}

function isWhole({ top_p = 1, top_k = 0, min_tokens = 0 }: ReturnType<typeof samplingOf>): boolean {
  return top_p >= 1 && top_k <= 0 && min_tokens <= 0;
}

function toleranceOf(dtype: string): number {
  // The store has log-probabilities in float32.
  if (dtype === "float32" || dtype === "float64") return FLOAT32_TOLERANCE;
  throw new MrlmError("USAGE", `The model computes in ${dtype}, for which there is no general tolerance.`, {
    hint: "Give one by --tolerance: the metric mismatch/max of a GRPO run has the differences that are usual for the model.",
  });
}

function differs(
  { place, token, version, stored, computed, size }: Difference,
  { wrong, tokens, tolerance }: { readonly wrong: number; readonly tokens: number; readonly tolerance: number },
): MrlmError {
  const { episode, agent, policy, position, step } = place;
  return new MrlmError(
    "LOGPROBS_DIFFER",
    `${wrong} of ${tokens} log-probabilities differ by more than ${tolerance}. The largest difference is ${size}: episode ${episode} (step ${step}), agent ${agent}, segment ${position}, token ${token} has ${stored}, and policy ${policy} at version ${version} gives ${computed}.`,
  );
}

function nothing({
  segments,
  withoutWeights,
  cutDistribution,
}: Pick<VerifyResult, "segments" | "withoutWeights" | "cutDistribution">): MrlmError {
  return new MrlmError(
    "DATA_INVALID",
    `None of ${segments} segments with tokens can be verified: the weights of ${withoutWeights} were not kept, and ${cutDistribution} were drawn from a cut distribution.`,
    { hint: "Only the weights of checkpoints are kept: keep more of them by checkpoint.every and checkpoint.keep." },
  );
}
