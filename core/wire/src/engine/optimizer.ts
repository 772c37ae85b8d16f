import type { OptimStepOptions, OptimStepResult } from "@mrlm/spec";
import type { Codec } from "../codec.ts";
import type * as wire from "../gen/mrlm/engine/v1/engine.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";

/** Hyperparameters of AdamW that a step omits. */
export const ADAMW_DEFAULTS = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 0 } as const;

const request = {
  encode(options: OptimStepOptions, call: bigint): wire.OptimStepRequest {
    const { model, learningRate, maxGradNorm, ...rest } = { ...ADAMW_DEFAULTS, ...withoutUndefined(options) };
    const { beta1, beta2, epsilon, weightDecay } = rest;
    return { call, modelId: model, adamw: { learningRate, beta1, beta2, epsilon, weightDecay }, maxGradNorm };
  },

  decode({ modelId: model, adamw, maxGradNorm }: wire.OptimStepRequest): Required<OptimStepOptions> {
    if (adamw === undefined) throw invalid("an optimizer step has no parameters");
    return { model, ...adamw, maxGradNorm };
  },
};

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

const response: Codec<OptimStepResult, wire.OptimStepResponse> = {
  encode: ({ applied, gradNorm, step, skippedReason, seconds }) => ({
    applied,
    gradNorm,
    step: toInt64(step, "step"),
    skippedReason: skippedReason ?? "",
    seconds,
  }),

  decode: ({ applied, gradNorm, step, skippedReason, seconds }) => ({
    applied,
    gradNorm,
    step: fromInt64(step, "step"),
    ...(skippedReason !== "" && { skippedReason }),
    seconds,
  }),
};

/** Codecs of the call that makes an optimizer step. */
export const optimStepCodec = { request, response };
