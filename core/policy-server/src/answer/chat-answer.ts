import { MrlmError } from "@mrlm/spec";
import { ApiError } from "../api/api-error.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import { answerTokens, checkTextLength, type Generated, samplingKey } from "../sampling/generate.ts";
import type { ChoiceUpdate } from "../text/choice.ts";
import { ChatText, type Delta } from "../text/text-sink.ts";
import type { AnswerContext } from "./answer-context.ts";
import { EventStream } from "./event-stream.ts";
import { generateAll } from "./generate-all.ts";
import { ResponseHead, usageOf, versionSpans } from "./response-head.ts";
import type { TokenNames } from "./token-names.ts";

/** Answers a request of `/v1/chat/completions`. */
export async function answerChat(context: AnswerContext, request: ChatRequest): Promise<void> {
  const { policy, names, exchange } = context;
  context.admission.check(request.n ?? 1, "n");
  const prompt = renderPrompt(context, request);
  const maxTokens = answerTokens(policy, prompt.length, request.maxTokens, "messages");
  const takenIds = new Set(
    request.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))),
  );
  const head = new ResponseHead(policy, "chatcmpl");
  const events = request.stream === true ? new EventStream(exchange.response) : undefined;
  const answers = Array.from({ length: request.n ?? 1 }, (_, index) => new ChatAnswer(index, request, names));
  let usedTokens = 0;

  /** Writes a part of an answer as an event. */
  const write = (choice: object, isFirst = false): void => {
    const ids = isFirst && request.return_token_ids === true ? { prompt_token_ids: [...prompt] } : {};
    events?.write(JSON.stringify({ ...head.fields("chat.completion.chunk"), choices: [choice], ...ids }));
  };
  const generations = answers.map((answer) => ({
    prompt,
    parameters: request,
    maxTokens,
    key: samplingKey(request.seed, 0, answer.index),
    sink: new ChatText(policy.renderer, { prompt, tools: request.tools, takenIds }),
    ...(events !== undefined && {
      onUpdate(update: ChoiceUpdate): void {
        const isFirst = !answer.hasBegun;
        const delta = answer.add(update);
        if (delta !== undefined) write(delta, isFirst);
      },
    }),
  }));
  await generateAll(context, generations, (generated, i) => {
    const answer = answers[i] as ChatAnswer;
    head.ended(generated.versions);
    const isFirst = !answer.hasBegun;
    const delta = answer.add(generated.last);
    if (events !== undefined && delta !== undefined) write(delta, isFirst);
    answer.end(generated);
    if (events !== undefined) write(answer.lastChunk());
    usedTokens += answer.tokens;
    context.count({ prompt: i === 0 ? prompt.length : 0, completion: answer.tokens });
  });
  const usage = usageOf(prompt.length, usedTokens);
  if (events === undefined) {
    exchange.send(200, {
      ...head.fields("chat.completion"),
      choices: answers.map((answer) => answer.choice()),
      usage,
      ...(request.return_token_ids === true && { prompt_token_ids: [...prompt] }),
    });
    return;
  }
  if (request.stream_options?.include_usage === true)
    events.write(JSON.stringify({ ...head.fields("chat.completion.chunk"), choices: [], usage }));
  events.end();
}

function renderPrompt({ policy }: AnswerContext, { messages, tools }: ChatRequest): Int32Array {
  const texts = messages.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text.length : 0)));
  checkTextLength(
    policy,
    texts.reduce((sum, length) => sum + length, 0),
    "messages",
  );
  try {
    return policy.renderer.render(messages, tools).tokens;
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    const param = error.code === "TOOLS_UNSUPPORTED" ? "tools" : "messages";
    throw new ApiError(400, "invalid_value", `${error.message} ${error.hint ?? ""}`.trim(), { param });
  }
}

/** One choice of a chat response. */
class ChatAnswer {
  readonly index: number;
  readonly #request: ChatRequest;
  readonly #names: TokenNames;
  hasBegun = false;
  tokens = 0;
  #content = "";
  #reasoning = "";
  readonly #calls: object[] = [];
  readonly #ids: number[] = [];
  readonly #logprobs: object[] = [];
  #finishReason: string | null = null;
  #versions: Int32Array = new Int32Array();

  constructor(index: number, request: ChatRequest, names: TokenNames) {
    this.index = index;
    this.#request = request;
    this.#names = names;
  }

  /** Adds a part. Returns it as a choice of an event, or `undefined` if it has nothing to send yet. */
  add({ deltas, tokens, logprobs }: ChoiceUpdate): object | undefined {
    this.tokens += tokens.length;
    const { return_token_ids: hasIds = false, logprobs: hasLogprobs, stream = false } = this.#request;
    const lists = this.#lists(tokens, logprobs);
    if (!stream) {
      this.#ids.push(...lists.ids);
      this.#logprobs.push(...lists.content);
    }
    const delta = this.#merge(deltas);
    if (!stream || (deltas.length === 0 && ((!hasIds && !hasLogprobs) || tokens.length === 0) && this.hasBegun))
      return undefined;
    const isFirst = !this.hasBegun;
    this.hasBegun = true;
    return {
      index: this.index,
      delta: isFirst ? { role: "assistant", content: "", ...delta } : delta,
      logprobs: hasLogprobs ? { content: lists.content, refusal: null } : null,
      finish_reason: null,
      ...(hasIds && { token_ids: lists.ids }),
    };
  }

  end({ finishReason, versions }: Generated): void {
    this.#finishReason = finishReason === "stop" && this.#calls.length > 0 ? "tool_calls" : finishReason;
    this.#versions = versions.subarray(0, this.tokens);
  }

  /** Returns the choice of the last event. */
  lastChunk(): object {
    return {
      index: this.index,
      delta: {},
      logprobs: null,
      finish_reason: this.#finishReason,
      ...this.#weightVersions(),
    };
  }

  /** Returns the choice of a response that is not streamed. */
  choice(): object {
    const hasCalls = this.#calls.length > 0;
    return {
      index: this.index,
      message: {
        role: "assistant",
        content: this.#content === "" && hasCalls ? null : this.#content,
        refusal: null,
        ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
        ...(hasCalls && { tool_calls: this.#calls }),
      },
      logprobs: this.#request.logprobs ? { content: this.#logprobs, refusal: null } : null,
      finish_reason: this.#finishReason,
      ...(this.#request.return_token_ids === true && { token_ids: this.#ids }),
      ...this.#weightVersions(),
    };
  }

  #weightVersions(): object {
    return this.#request.return_token_ids === true ? { weight_versions: versionSpans(this.#versions) } : {};
  }

  #lists(tokens: readonly number[], logprobs: readonly number[]): { ids: readonly number[]; content: object[] } {
    if (!this.#request.logprobs) return { ids: tokens, content: [] };
    const content = tokens.map((token, i) => ({
      token: this.#names.of(token),
      logprob: logprobs[i],
      bytes: this.#names.bytesOf(token),
      top_logprobs: [],
    }));
    return { ids: tokens, content };
  }

  /** Adds parts to the message. Returns them as the delta of an event. */
  #merge(deltas: readonly Delta[]): object {
    const merged: { content?: string; reasoning_content?: string; tool_calls?: object[] } = {};
    for (const delta of deltas) {
      if (delta.type === "content") {
        this.#content += delta.text;
        merged.content = (merged.content ?? "") + delta.text;
      } else if (delta.type === "reasoning") {
        this.#reasoning += delta.text;
        merged.reasoning_content = (merged.reasoning_content ?? "") + delta.text;
      } else {
        const { id, name, arguments: given } = delta.call;
        const call = { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
        (merged.tool_calls ??= []).push({ index: this.#calls.length, ...call });
        this.#calls.push(call);
      }
    }
    return merged;
  }
}
