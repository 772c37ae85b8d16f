import { MrlmError } from "@mrlm/spec";
import { invalidParameter } from "@mrlm/kit/gateway";
import type { CompletionRequest } from "../api/completion-request.ts";
import { answerTokens, checkTextLength, type Generated, samplingKey } from "../sampling/generate.ts";
import type { ChoiceUpdate } from "../text/choice.ts";
import { PlainText } from "../text/text-sink.ts";
import type { AnswerContext } from "./answer-context.ts";
import { EventStream } from "./event-stream.ts";
import { generateAll } from "./generate-all.ts";
import { ResponseHead, usageOf, versionSpans } from "./response-head.ts";
import type { TokenNames } from "./token-names.ts";

/** Answers a request of `/v1/completions`. */
export async function answerCompletion(context: AnswerContext, request: CompletionRequest): Promise<void> {
  const { policy, names, exchange, codec } = context;
  const { n } = request;
  context.admission.check(request.prompts.length * n, request.prompts.length > 1 ? "prompt" : "n");
  const prompts = request.prompts.map((prompt) => promptTokens(context, prompt));
  const [maxTokens = 0] = prompts.map(({ tokens }) => answerTokens(policy, tokens.length, request.maxTokens, "prompt"));
  const echoed = request.echo && request.logprobs ? await promptLogprobs(context, prompts, request) : [];
  const head = new ResponseHead(policy, "cmpl");
  const events = request.stream ? new EventStream(exchange.response, codec) : undefined;
  const answers = prompts.flatMap(({ tokens, text }, p) =>
    Array.from({ length: n }, (_, c) => {
      const answer = new CompletionAnswer(p * n + c, tokens, request, names);
      if (request.echo)
        answer.add({
          deltas: [{ type: "content", text }],
          tokens: request.logprobs ? [...tokens] : [],
          logprobs: echoed[p] ?? [],
        });
      return { prompt: tokens, p, c, answer };
    }),
  );
  let usedTokens = 0;
  const write = (choice: object): void => events?.write({ ...head.fields("text_completion"), choices: [choice] });
  const finish = (generated: Generated | undefined, i: number): void => {
    const { answer, prompt, c } = answers[i] as (typeof answers)[number];
    if (generated !== undefined) {
      answer.end(generated);
      head.ended(generated.versions);
    }
    if (events !== undefined) write(answer.take(true));
    usedTokens += answer.sampled;
    context.count({ prompt: c === 0 ? prompt.length : 0, completion: answer.sampled });
  };
  const generations = answers.map(({ prompt, p, c, answer }) => ({
    prompt,
    parameters: request.sampling,
    stops: request.stops,
    maxTokens,
    key: samplingKey(request.sampling.seed, p, c),
    sink: new PlainText(policy.renderer),
    ...(events !== undefined && {
      onUpdate(update: ChoiceUpdate): void {
        answer.add(update, true);
        if (answer.hasNews) write(answer.take(false));
      },
    }),
  }));
  if (maxTokens === 0) answers.forEach((_, i) => finish(undefined, i));
  else await generateAll(context, generations, finish);
  const usage = usageOf(
    prompts.reduce((sum, { tokens }) => sum + tokens.length, 0),
    usedTokens,
  );
  if (events === undefined) {
    const choices = answers.map(({ answer }) => answer.take(true));
    exchange.send(200, { ...head.fields("text_completion"), choices, usage });
    return;
  }
  if (request.includeUsage) events.write({ ...head.fields("text_completion"), choices: [], usage });
  events.end();
}

interface Prompt {
  readonly tokens: Int32Array;
  readonly text: string;
}

function promptTokens({ policy }: AnswerContext, prompt: string | readonly number[]): Prompt {
  const { tokenizer, vocabSize } = policy.renderer;
  if (typeof prompt !== "string") {
    const bad = prompt.find((token) => token >= vocabSize);
    if (bad !== undefined)
      throw invalidParameter("prompt", `The prompt has token ${bad}, and the vocabulary ends at ${vocabSize - 1}.`);
    const tokens = Int32Array.from(prompt);
    return { tokens, text: tokenizer.decodeText(tokens) };
  }
  checkTextLength(policy, prompt.length, "prompt");
  try {
    const tokens = tokenizer.encode(prompt);
    if (tokens.length > 0) return { tokens, text: prompt };
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    throw invalidParameter("prompt", error.message);
  }
  throw invalidParameter("prompt", "The prompt has no tokens.");
}

/** One choice of a completion. */
class CompletionAnswer {
  readonly #index: number;
  readonly #prompt: Int32Array;
  readonly #request: CompletionRequest;
  readonly #names: TokenNames;
  /** Sampled tokens so far. */
  sampled = 0;
  #text = "";
  #ids: number[] = [];
  #shownTokens: number[] = [];
  #logprobs: (number | null)[] = [];
  /** Characters of the tokens before those that were not taken yet. */
  #offset = 0;
  #isFirst = true;
  #finishReason: string | null = null;
  #versions: Int32Array = new Int32Array();

  constructor(index: number, prompt: Int32Array, request: CompletionRequest, names: TokenNames) {
    this.#index = index;
    this.#prompt = prompt;
    this.#request = request;
    this.#names = names;
  }

  /** Whether a part can be sent. */
  get hasNews(): boolean {
    const { returnTokenIds: hasIds, logprobs } = this.#request;
    return this.#text !== "" || ((hasIds || logprobs) && this.#shownTokens.length + this.#ids.length > 0);
  }

  /** Adds a part of the prompt, or with `isSampled` of the answer. */
  add(
    { deltas, tokens, logprobs }: Omit<ChoiceUpdate, "logprobs"> & { readonly logprobs: readonly (number | null)[] },
    isSampled = false,
  ): void {
    for (const delta of deltas) if (delta.type === "content") this.#text += delta.text;
    this.#shownTokens.push(...tokens);
    this.#logprobs.push(...logprobs);
    if (!isSampled) return;
    this.#ids.push(...tokens);
    this.sampled += tokens.length;
  }

  end({ last, finishReason, versions }: Generated): void {
    this.add(last, true);
    this.#finishReason = finishReason;
    this.#versions = versions.subarray(0, this.sampled);
  }

  /** Returns what was added since the last call as a choice. */
  take(isLast: boolean): object {
    const { returnTokenIds: hasIds, logprobs: hasLogprobs } = this.#request;
    const choice = {
      index: this.#index,
      text: this.#text,
      logprobs: hasLogprobs ? this.#logprobLists() : null,
      finish_reason: isLast ? (this.#finishReason ?? "length") : null,
      ...(hasIds && { token_ids: this.#ids, ...(this.#isFirst && { prompt_token_ids: [...this.#prompt] }) }),
      ...(hasIds && isLast && { weight_versions: versionSpans(this.#versions) }),
    };
    this.#text = "";
    [this.#ids, this.#shownTokens, this.#logprobs] = [[], [], []];
    this.#isFirst = false;
    return choice;
  }

  #logprobLists(): object {
    const tokens = this.#shownTokens.map((token) => this.#names.of(token));
    const offsets = tokens.map(({ length }) => (this.#offset += length) - length);
    return { tokens, token_logprobs: this.#logprobs, top_logprobs: null, text_offset: offsets };
  }
}

/**
 * Returns the log-probability of each token of the prompts at the temperature of the request (1 for temperature 0); null for the first token of each, which nothing
 * precedes. The request counts as one sequence of the queue. Throws ApiError with status 429.
 */
async function promptLogprobs(
  { policy, admission, signal }: AnswerContext,
  prompts: readonly { readonly tokens: Int32Array }[],
  { sampling: { temperature = 1 } }: Pick<CompletionRequest, "sampling">,
): Promise<(number | null)[][]> {
  const units = prompts.map(({ tokens }) => ({
    sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => Number(i > 0)) }],
  }));
  admission.admit(1);
  const outputs = await admission.run(
    signal,
    async () =>
      await policy.engine.forward({
        model: policy.model,
        units,
        outputs: { logprob: true },
        temperature: temperature === 0 ? 1 : temperature,
        signal,
      }),
  );
  return outputs.map(({ logprob }) => [null, ...(logprob ?? [])]);
}
