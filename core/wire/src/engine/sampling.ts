import {
  type SampleRequest,
  type SampleResult,
  type SamplingParams,
  type StopReason,
  MrlmError,
  isErrorCode,
} from "@mrlm/spec";
import { bytesOf, floatsOf, integersOf } from "../bytes.ts";
import * as wire from "../gen/mrlm/engine/v1/engine.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";

const STOP_REASONS = {
  stop: wire.StopReason.STOP_REASON_STOP,
  length: wire.StopReason.STOP_REASON_LENGTH,
  cancelled: wire.StopReason.STOP_REASON_CANCELLED,
} as const satisfies Record<StopReason, wire.StopReason>;

export function encodeSampleAdd(id: bigint, { prompt, params, key }: SampleRequest): wire.SampleAdd {
  return {
    id,
    prompt: bytesOf(prompt),
    params: {
      temperature: params.temperature,
      topP: params.topP ?? 0,
      topK: params.topK ?? 0,
      maxTokens: params.maxTokens,
      minTokens: params.minTokens ?? 0,
      stopTokenIds: params.stopTokenIds as number[],
    },
    key,
  };
}

/** Decodes a sequence to sample. Omitted parameters get their defaults. */
export function decodeSampleAdd({ prompt, params, key }: wire.SampleAdd): SampleRequest {
  if (params === undefined) throw invalid("a sequence to sample has no parameters");
  return { prompt: integersOf(prompt), params: params satisfies SamplingParams, key };
}

export function encodeSampleFinish(id: bigint, result: SampleResult): wire.SampleFinish {
  return {
    id,
    reason: STOP_REASONS[result.stopReason],
    tokenIds: bytesOf(result.tokens),
    logprobs: bytesOf(result.logprobs),
    truncatedSupport: result.truncatedSupport,
    versions: runsOf(result.versions),
    errorCode: "",
    errorMessage: "",
  };
}

export function encodeSampleError(id: bigint, error: unknown): wire.SampleFinish {
  const known = MrlmError.isInstance(error) ? error : new MrlmError("ENGINE_FAILED", String(error));
  return {
    id,
    reason: wire.StopReason.STOP_REASON_ERROR,
    tokenIds: new Uint8Array(0),
    logprobs: new Uint8Array(0),
    truncatedSupport: false,
    versions: [],
    errorCode: known.code,
    errorMessage: known.message,
  };
}

/** Decodes a sampled sequence. Throws the sequence's own error if it has one. */
export function decodeSampleFinish(finish: wire.SampleFinish): SampleResult {
  const { reason, errorCode, errorMessage, truncatedSupport } = finish;
  if (reason === wire.StopReason.STOP_REASON_ERROR) {
    if (isErrorCode(errorCode)) throw new MrlmError(errorCode, errorMessage);
    throw new MrlmError("ENGINE_FAILED", `The engine could not sample a sequence: [${errorCode}] ${errorMessage}`);
  }
  const stopReason = (Object.keys(STOP_REASONS) as StopReason[]).find((name) => STOP_REASONS[name] === reason);
  if (stopReason === undefined) throw invalid("a sampled sequence has no stop reason");
  const tokens = integersOf(finish.tokenIds);
  const logprobs = floatsOf(finish.logprobs);
  if (logprobs.length !== tokens.length)
    throw invalid(`${tokens.length} sampled tokens came with ${logprobs.length} log-probabilities`);
  return { tokens, logprobs, versions: versionsOf(finish.versions, tokens.length), stopReason, truncatedSupport };
}

function runsOf(versions: Int32Array): wire.VersionRun[] {
  const runs: { version: bigint; count: number }[] = [];
  let start = 0;
  for (let i = 1; i <= versions.length; i++) {
    if (i < versions.length && versions[i] === versions[start]) continue;
    runs.push({ version: toInt64(versions[start] as number, "a weight version"), count: i - start });
    start = i;
  }
  return runs;
}

function versionsOf(runs: readonly wire.VersionRun[], length: number): Int32Array {
  const versions = new Int32Array(length);
  let end = 0;
  for (const { version, count } of runs) {
    versions.fill(fromInt64(version, "a weight version"), end, end + count);
    end += count;
  }
  if (end !== length) throw invalid(`weight versions cover ${end} of ${length} sampled tokens`);
  return versions;
}
