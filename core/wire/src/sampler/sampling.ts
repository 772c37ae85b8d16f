import { isErrorCode, MrlmError, type StopReason } from "@mrlm/spec";
import type { SampledChunk, SampleRequest, SampleResult, SamplingParams } from "@mrlm/spec/host";
import { bytesOf, floatsOf, integersOf } from "../bytes.ts";
import * as wire from "../gen/mrlm/sampler/v1/sampler.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";

const STOP_REASONS = {
  stop: wire.StopReason.STOP_REASON_STOP,
  length: wire.StopReason.STOP_REASON_LENGTH,
  cancelled: wire.StopReason.STOP_REASON_CANCELLED,
} as const satisfies Record<StopReason, wire.StopReason>;

/** Codec: sequence to sample. */
export const sampleAddCodec = {
  /** @param streamTokens whether the engine sends the tokens as they are sampled too */
  encode(id: bigint, { prompt, params, key }: SampleRequest, streamTokens = false): wire.SampleAdd {
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
      streamTokens,
    };
  },

  /** Decodes a sequence to sample. Omitted parameters get their defaults. */
  decode({ prompt, params, key }: wire.SampleAdd): SampleRequest {
    if (params === undefined) throw invalid("a sequence to sample has no parameters");
    return { prompt: integersOf(prompt), params: params satisfies SamplingParams, key };
  },
};

/** Codec: new tokens of a sequence. */
export const sampleTokensCodec = {
  /** Encodes new tokens of a sequence, one message for each weight version. */
  encode(id: bigint, { tokens, logprobs, versions }: SampledChunk): wire.SampleTokens[] {
    let start = 0;
    return runsOf(versions).map(({ version, count }) => {
      const end = start + count;
      const piece = { tokenIds: bytesOf(tokens.slice(start, end)), logprobs: bytesOf(logprobs.slice(start, end)) };
      start = end;
      return { id, version, ...piece };
    });
  },

  /** Decodes new tokens of a sequence. */
  decode({ tokenIds, logprobs, version }: wire.SampleTokens): SampledChunk {
    const tokens = integersOf(tokenIds);
    return {
      tokens,
      logprobs: logprobsOf(logprobs, tokens),
      versions: new Int32Array(tokens.length).fill(fromInt64(version, "a weight version")),
    };
  },
};

/** Codec: sampled sequence, or the error that ended it. */
export const sampleFinishCodec = {
  encode(id: bigint, result: SampleResult): wire.SampleFinish {
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
  },

  encodeError(id: bigint, error: unknown): wire.SampleFinish {
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
  },

  /** Decodes a sampled sequence. Throws the sequence's own error if it has one. */
  decode(finish: wire.SampleFinish): SampleResult {
    const { reason, errorCode, errorMessage, truncatedSupport } = finish;
    if (reason === wire.StopReason.STOP_REASON_ERROR) {
      if (isErrorCode(errorCode)) throw new MrlmError(errorCode, errorMessage);
      throw new MrlmError("ENGINE_FAILED", `The engine could not sample a sequence: [${errorCode}] ${errorMessage}`);
    }
    const stopReason = (Object.keys(STOP_REASONS) as StopReason[]).find((name) => STOP_REASONS[name] === reason);
    if (stopReason === undefined) throw invalid("a sampled sequence has no stop reason");
    const tokens = integersOf(finish.tokenIds);
    const logprobs = logprobsOf(finish.logprobs, tokens);
    return { tokens, logprobs, versions: versionsOf(finish.versions, tokens.length), stopReason, truncatedSupport };
  },
};

function logprobsOf(bytes: Uint8Array, { length }: Int32Array): Float32Array {
  const logprobs = floatsOf(bytes);
  if (logprobs.length !== length)
    throw invalid(`${length} sampled tokens came with ${logprobs.length} log-probabilities`);
  return logprobs;
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
