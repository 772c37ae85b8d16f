import { ApiError, type ModelCall, withInstructions } from "@mrlm/kit/gateway";
import { MrlmError } from "@mrlm/spec";
import { answerTokens, checkTextLength, type Generation, samplingKey } from "../sampling/generate.ts";
import { ChatText } from "../text/text-sink.ts";
import type { AnswerContext } from "./answer-context.ts";

/** Renders the prompt of a call. Throws ApiError with status 400 for one that cannot be rendered, or is longer than the model has positions. */
export function promptOf({ policy, codec }: AnswerContext, call: ModelCall): Int32Array {
  const { tools } = call;
  const messages = withInstructions(call.messages, call);
  const texts = messages.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text.length : 0)));
  checkTextLength(
    policy,
    texts.reduce((sum, length) => sum + length, 0),
    codec.list,
  );
  try {
    return policy.renderer.render(messages, tools).tokens;
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    const param = error.code === "TOOLS_UNSUPPORTED" ? "tools" : codec.list;
    throw new ApiError(400, "invalid_value", `${error.message} ${error.hint ?? ""}`.trim(), { param });
  }
}

/** Returns what is sampled for a call: `n` answers to its prompt. Throws ApiError context_length_exceeded. */
export function samplesOf(
  { policy, codec }: AnswerContext,
  call: ModelCall,
  prompt: Int32Array,
  n = 1,
): Pick<Generation, "prompt" | "parameters" | "stops" | "maxTokens" | "key" | "sink">[] {
  // A limit above the free positions is met by them, as in an episode.
  const room = answerTokens(policy, prompt.length, undefined, codec.list);
  const takenIds = new Set(
    call.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))),
  );
  return Array.from({ length: n }, (_, index) => ({
    prompt,
    parameters: call.sampling,
    stops: call.stops,
    maxTokens: Math.min(call.maxTokens ?? room, room),
    key: samplingKey(call.sampling.seed, 0, index),
    sink: new ChatText(policy.renderer, { prompt, tools: call.tools, takenIds }),
  }));
}
