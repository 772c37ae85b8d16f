import { ChatChoice, type parseChatRequest } from "@mrlm/kit/gateway";
import type { Generated } from "../sampling/generate.ts";
import type { ChoiceUpdate } from "../text/choice.ts";
import type { AnswerContext } from "./answer-context.ts";
import { promptOf, samplesOf } from "./call-prompt.ts";
import { EventStream } from "./event-stream.ts";
import { generateAll } from "./generate-all.ts";
import { ResponseHead, usageOf, versionSpans } from "./response-head.ts";
import type { TokenNames } from "./token-names.ts";

type ChatRequest = ReturnType<typeof parseChatRequest>;

/** Answers a request of `/v1/chat/completions`. */
export async function answerChat(context: AnswerContext, request: ChatRequest): Promise<void> {
  const { policy, names, exchange, codec } = context;
  context.admission.check(request.n, "n");
  const prompt = promptOf(context, request);
  const samples = samplesOf(context, request, prompt, request.n);
  const head = new ResponseHead(policy, "chatcmpl");
  const events = request.stream ? new EventStream(exchange.response, codec) : undefined;
  const answers = samples.map((_, index) => new ChatAnswer(index, request, names));
  let usedTokens = 0;

  /** Writes a part of an answer as an event. */
  const write = (choice: object, isFirst = false): void => {
    const ids = isFirst && request.returnTokenIds ? { prompt_token_ids: [...prompt] } : {};
    events?.write({ ...head.fields("chat.completion.chunk"), choices: [choice], ...ids });
  };
  const generations = answers.map((answer, i) => ({
    ...(samples[i] as (typeof samples)[number]),
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
      ...(request.returnTokenIds && { prompt_token_ids: [...prompt] }),
    });
    return;
  }
  if (request.includeUsage) events.write({ ...head.fields("chat.completion.chunk"), choices: [], usage });
  events.end();
}

/** One choice of a chat response, with its tokens. */
class ChatAnswer {
  readonly #request: ChatRequest;
  readonly #names: TokenNames;
  readonly #choice: ChatChoice;
  tokens = 0;
  readonly #ids: number[] = [];
  readonly #logprobs: object[] = [];
  #finishReason: Generated["finishReason"] = "stop";
  #versions: Int32Array = new Int32Array();

  constructor(index: number, request: ChatRequest, names: TokenNames) {
    this.#request = request;
    this.#names = names;
    this.#choice = new ChatChoice(index, request);
  }

  /** Whether the answer has the form that the request requires. */
  get hasFormat(): boolean {
    return this.#choice.hasFormat;
  }

  get hasBegun(): boolean {
    return this.#choice.hasBegun;
  }

  /** Adds a part. Returns it as a choice of an event, or `undefined` if it has nothing to send yet. */
  add({ deltas, tokens, logprobs }: ChoiceUpdate): object | undefined {
    this.tokens += tokens.length;
    const { returnTokenIds: hasIds, logprobs: hasLogprobs, stream } = this.#request;
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
    const { returnTokenIds: hasIds, logprobs } = this.#request;
    return { ...(logprobs && { logprobs: { content, refusal: null } }), ...(hasIds && { token_ids: ids }) };
  }

  #weightVersions(): object {
    return this.#request.returnTokenIds ? { weight_versions: versionSpans(this.#versions) } : {};
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
