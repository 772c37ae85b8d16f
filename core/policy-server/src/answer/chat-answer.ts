import { ApiError, ChatChoice, type ChatRequest, withInstructions } from "@mrlm/kit/gateway";
import { MrlmError } from "@mrlm/spec";
import { answerTokens, checkTextLength, type Generated, samplingKey } from "../sampling/generate.ts";
import type { ChoiceUpdate } from "../text/choice.ts";
import { ChatText } from "../text/text-sink.ts";
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
  // A limit above the free positions is met by them, as in an episode.
  const room = answerTokens(policy, prompt.length, undefined, "messages");
  const maxTokens = Math.min(request.maxTokens ?? room, room);
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
    const schemaFailed = answer.hasFormat ? 0 : 1;
    context.count({ prompt: i === 0 ? prompt.length : 0, completion: answer.tokens, schemaFailed });
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

function renderPrompt({ policy }: AnswerContext, request: ChatRequest): Int32Array {
  const { tools } = request;
  const messages = withInstructions(request.messages, request);
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

/** One choice of a chat response, with its tokens. */
class ChatAnswer {
  readonly index: number;
  readonly #request: ChatRequest;
  readonly #names: TokenNames;
  readonly #choice: ChatChoice;
  tokens = 0;
  readonly #ids: number[] = [];
  readonly #logprobs: object[] = [];
  #finishReason: Generated["finishReason"] = "stop";
  #versions: Int32Array = new Int32Array();

  constructor(index: number, request: ChatRequest, names: TokenNames) {
    this.index = index;
    this.#request = request;
    this.#names = names;
    this.#choice = new ChatChoice(index);
  }

  /** Whether the answer has the form that the request requires. */
  get hasFormat(): boolean {
    return this.#choice.hasFormat(this.#request);
  }

  get hasBegun(): boolean {
    return this.#choice.hasBegun;
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
    const delta = this.#choice.add(deltas);
    if (!stream || (deltas.length === 0 && ((!hasIds && !hasLogprobs) || tokens.length === 0) && this.hasBegun))
      return undefined;
    return this.#choice.event(delta, this.#tokenFields(lists));
  }

  end({ finishReason, versions }: Generated): void {
    this.#finishReason = finishReason;
    this.#versions = versions.subarray(0, this.tokens);
  }

  /** Returns the choice of the last event. */
  lastChunk(): object {
    return this.#choice.lastEvent(this.#finishReason, this.#weightVersions());
  }

  /** Returns the choice of a response that is not streamed. */
  choice(): object {
    const fields = this.#tokenFields({ ids: this.#ids, content: this.#logprobs });
    return this.#choice.whole(this.#finishReason, { ...fields, ...this.#weightVersions() });
  }

  #tokenFields({ ids, content }: { readonly ids: readonly number[]; readonly content: object[] }): object {
    const { return_token_ids: hasIds = false, logprobs } = this.#request;
    return { ...(logprobs && { logprobs: { content, refusal: null } }), ...(hasIds && { token_ids: ids }) };
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
}
