import { defined, type JsonObject, MrlmError, Places, type TaskSource } from "@mrlm/kit";
import {
  catalogueOf,
  type Fetch,
  HttpClient,
  readShape,
  type RemoteServer,
  type TaskPlace,
  tokenOf,
  whenAvailable,
} from "@mrlm/kit/bridge";
import { Agent, fetch } from "undici";
import { z } from "zod";
import { type ActionForm, actionForm } from "./action-form.ts";
import { OpenEnvEpisode } from "./openenv-episode.ts";
import type { OpenEnvOptions } from "./options.ts";
import { Socket } from "./socket.ts";

const schemas = z.looseObject({ action: z.record(z.string(), z.json()) });
/** Connections of all servers. Idle ones are closed soon, and none keeps a process alive that has ended its work. */
const agent = new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });
const fetchOnce: Fetch = (url, init) => fetch(url, { ...init, dispatcher: agent });
/** Servers by the options of their sessions, which share them. */
const SERVERS = new WeakMap<OpenEnvOptions, OpenEnvServer>();

/** Returns the server of an environment under one set of options. */
export function serverOf(options: OpenEnvOptions): OpenEnvServer {
  let server = SERVERS.get(options);
  if (server === undefined) SERVERS.set(options, (server = new OpenEnvServer(options)));
  return server;
}

/** OpenEnv server under one set of options. */
class OpenEnvServer implements RemoteServer {
  readonly places: Places;
  readonly #options: OpenEnvOptions;
  readonly #headers: Record<string, string>;
  readonly #client: HttpClient;
  #form: ActionForm | undefined;

  constructor(options: OpenEnvOptions) {
    const token = tokenOf(options);
    this.#options = options;
    this.places = new Places(options.max_sessions);
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#client = new HttpClient(options.url, this.#headers, fetchOnce);
  }

  /** Reads the tasks of the server. */
  async tasks(): Promise<TaskSource> {
    const { signal } = new AbortController();
    const { tasks } = await whenAvailable(this.#options.timeouts, signal, (late) =>
      catalogueOf(this.#client, this.#options, late),
    );
    return tasks;
  }

  async start(place: TaskPlace, seed: number | undefined, signal: AbortSignal): Promise<OpenEnvEpisode> {
    const form = (this.#form ??= await this.#readForm(signal));
    const connect = (query: string, late: AbortSignal): Promise<Socket> =>
      Socket.open(`${this.#client.url}/ws${query}`, this.#headers, late);
    const socket = await connect("", signal);
    const reset: JsonObject = { ...defined({ seed }), ...place };
    const resume = (session: string, late: AbortSignal): Promise<Socket> =>
      connect(`?session_id=${encodeURIComponent(session)}`, late);
    return OpenEnvEpisode.start({ socket, form, options: this.#options, resume }, reset, signal);
  }

  /** Reads the form of actions. A server without schemas takes `{ message }`. */
  async #readForm(signal: AbortSignal): Promise<ActionForm> {
    try {
      const answer = await this.#client.json({ method: "GET", path: "/schema", signal });
      return actionForm(readShape(schemas, answer, "The answer to GET /schema").action as JsonObject, this.#options);
    } catch (error) {
      if (!MrlmError.hasCode(error, "BRIDGE_REFUSED") || !/status 40[45]/.test(error.message)) throw error;
      return actionForm(undefined, this.#options);
    }
  }
}
