import {
  type Action,
  type Message,
  type Observation,
  type PolicyEpisode,
  type ToolDefinition,
  unqueued,
} from "@mrlm/kit";
import { hash64, type OpenPolicy } from "@mrlm/kit/service";
import type { CompletionRequest, ModelClient } from "@mrlm/model-client";
import type { EndpointOptions } from "./options.ts";
import { replyOf } from "./reply.ts";

/** Model of an endpoint as one agent of one episode. It holds the conversation, because an endpoint holds none. */
export class EndpointPolicy implements OpenPolicy {
  readonly #client: ModelClient;
  readonly #episode: PolicyEpisode;
  readonly #options: EndpointOptions;
  #messages: Message[] = [];
  #tools: readonly ToolDefinition[] = [];
  /** Ids of the calls in the conversation: servers that number the calls of one answer repeat them. */
  readonly #callIds = new Set<string>();
  #turn = 0;

  constructor(client: ModelClient, episode: PolicyEpisode, options: EndpointOptions) {
    this.#client = client;
    this.#episode = episode;
    this.#options = options;
  }

  async act(observation: Observation, { signal }: { readonly signal: AbortSignal }): Promise<Action> {
    const { agent, messages, tools, isFresh, maxTokens = Infinity } = observation;
    if (isFresh === true) this.#messages = [];
    this.#messages.push(...messages);
    this.#tools = tools ?? this.#tools;
    const completion = await this.#client.complete(this.#request(maxTokens), {
      signal,
      deadlineMs: this.#options.deadline_ms,
      queued: unqueued,
    });
    const message = replyOf(completion, {
      hasTools: this.#tools.length > 0,
      mayBeEmpty: this.#options.on_empty === "answer",
      callIds: this.#callIds,
    });
    this.#messages.push(message);
    return { agent, message, finishReason: completion.finishReason === "length" ? "length" : "stop" };
  }

  #request(most: number): CompletionRequest {
    const { sampling, seed } = this.#episode;
    const { temperature = sampling.temperature, top_p: topP = sampling.topP ?? null, max_tokens } = this.#options;
    // Servers take seeds of 32 bits with a sign.
    const draw = Number(hash64(`${seed}/${this.#turn++}`) >> 33n);
    return {
      messages: this.#messages,
      tools: this.#tools,
      maxTokens: Math.min(max_tokens ?? sampling.maxTokens, most),
      ...(temperature === null ? {} : { temperature }),
      ...(topP === null ? {} : { topP }),
      ...(this.#options.seed ? { seed: draw } : {}),
      variant: draw,
    };
  }
}
