import { ApiError, type parseChatRequest, unsupported } from "@mrlm/kit/gateway";
import { scoredTurns } from "@mrlm/kit/learning";
import { MrlmError } from "@mrlm/spec";
import type { AnswerContext } from "./answer-context.ts";
import { ResponseHead, usageOf } from "./response-head.ts";

/**
 * Answers a request of `/v1/chat/completions` to a reward model: the text `reward:SCORE`, with the scores of all assistant messages of the conversation, in their
 * order, as the values of the model's head. The last message is the answer to score. Of a conversation that is longer than the model has positions the
 * beginning is left out. Throws ApiError with status 400.
 */
export async function answerReward(
  { policy, exchange, codec, signal, admission, count }: AnswerContext,
  { messages, tools, stream, n }: ReturnType<typeof parseChatRequest>,
): Promise<void> {
  if (stream) throw unsupported("stream", " A score has one part.");
  if (n !== 1) throw unsupported("n", " A conversation has one score.");
  if (messages.at(-1)?.role !== "assistant")
    throw new ApiError(400, "invalid_value", "The last message must be that of the assistant, which is scored.", {
      param: codec.list,
    });
  const sequences = supervised();
  admission.admit(1);
  const [outputs] = await admission.run(signal, () =>
    policy.engine.forward({ model: policy.model, units: [{ sequences }], outputs: { value: true }, signal }),
  );
  const scores = Array.from(outputs?.value ?? []);
  if (scores.length === 0 || !scores.every(Number.isFinite))
    throw new MrlmError("INTERNAL", `The reward model "${policy.id}" returned no finite score.`);
  const tokens = sequences.reduce((sum, each) => sum + each.tokens.length, 0);
  count({ prompt: tokens, completion: 0 });
  exchange.send(200, {
    ...new ResponseHead(policy, "chatcmpl").fields("chat.completion"),
    choices: [
      { index: 0, message: { role: "assistant", content: `reward:${scores.join(",")}` }, finish_reason: "stop" },
    ],
    usage: usageOf(tokens, 0),
  });

  function supervised(): ReturnType<typeof scoredTurns> {
    try {
      return scoredTurns(policy.renderer.supervise(messages, tools), policy.maxPositions);
    } catch (error) {
      if (!MrlmError.isInstance(error)) throw error;
      throw new ApiError(400, "invalid_value", `${error.message} ${error.hint ?? ""}`.trim(), { param: codec.list });
    }
  }
}
