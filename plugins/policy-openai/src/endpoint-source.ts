import { createModelClient, type ModelClient, modelClientOptions, type ModelClientSystem } from "@mrlm/model-client";
import type { Determinism, PolicyEpisode, PolicySource } from "@mrlm/kit";
import type { OpenPolicy } from "@mrlm/kit/service";
import { EndpointPolicy } from "./endpoint-policy.ts";
import { type EndpointOptions, endpointOptions } from "./options.ts";

/** Source of players that ask OpenAI-compatible endpoints. Players with the same options share one client: its places, connections and budget. */
export class EndpointSource implements PolicySource<EndpointOptions> {
  readonly kind = "endpoint";
  /** An endpoint that answers anew promises less; recorded answers repeat. */
  readonly determinism: Determinism = "replayable";
  readonly options = endpointOptions;
  /** `deadline_ms` bounds a turn: the wait for a place does not count. */
  readonly timeoutMs = Number.POSITIVE_INFINITY;
  readonly #system: ModelClientSystem;
  readonly #clients = new Map<string, ModelClient>();

  constructor(system: ModelClientSystem = {}) {
    this.#system = system;
  }

  open(episode: PolicyEpisode, options: EndpointOptions): OpenPolicy {
    return new EndpointPolicy(this.client(options), episode, options);
  }

  /** Returns the client of a player's options. */
  client(options: EndpointOptions): ModelClient {
    const names = Object.keys(modelClientOptions.shape);
    const own = modelClientOptions.parse(
      Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))),
    );
    const key = JSON.stringify(own);
    const client = this.#clients.get(key) ?? createModelClient(own, this.#system);
    this.#clients.set(key, client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
    this.#clients.clear();
  }
}
