import { randomUUID } from "node:crypto";
import type { ModelCall } from "@mrlm/kit/gateway";
import type { ChoiceUpdate } from "../text/choice.ts";
import type { AnswerContext } from "./answer-context.ts";
import { promptOf, samplesOf } from "./call-prompt.ts";
import { EventStream } from "./event-stream.ts";
import { generateAll } from "./generate-all.ts";

/** Answers a call in the form of its API: of `/v1/responses` and `/v1/messages`. */
export async function answerCall(context: AnswerContext, call: ModelCall): Promise<void> {
  const { exchange, codec } = context;
  const prompt = promptOf(context, call);
  const [sample] = samplesOf(context, call, prompt);
  const writer = codec.begin(call, {
    id: randomUUID().replaceAll("-", ""),
    created: Math.floor(Date.now() / 1_000),
    inputTokens: prompt.length,
  });
  const events = call.stream ? new EventStream(exchange.response, codec) : undefined;
  let outputTokens = 0;
  const onUpdate = ({ deltas, tokens }: ChoiceUpdate): void => {
    outputTokens += tokens.length;
    if (deltas.length > 0) for (const event of writer.add(deltas)) events?.write(event);
  };
  const generation = { ...(sample as NonNullable<typeof sample>), ...(events !== undefined && { onUpdate }) };
  await generateAll(context, [generation], ({ last, ...end }) => {
    onUpdate(last);
    const ended = writer.end({ ...end, outputTokens });
    context.count({ prompt: prompt.length, completion: outputTokens, schemaFailed: ended.hasFormat ? 0 : 1 });
    if (events === undefined) return exchange.send(200, ended.whole);
    for (const event of ended.events) events.write(event);
    events.end();
  });
}

/** Answers a request of `/v1/messages/count_tokens` by the length of the prompt. */
export function countTokens(context: AnswerContext, call: ModelCall): void {
  context.exchange.send(200, { input_tokens: promptOf(context, call).length });
}
