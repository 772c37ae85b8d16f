import { defined, type JsonObject, MrlmError, Places, type TaskSource } from "@mrlm/kit";
import {
  type Catalogue,
  catalogueOf,
  type Fetch,
  HttpClient,
  pathOf,
  readShape,
  type RemoteServer,
  type TaskPlace,
  tokenOf,
  whenAvailable,
} from "@mrlm/kit/bridge";
import { Agent, fetch } from "undici";
import { z } from "zod";
import { OrsEpisode } from "./ors-episode.ts";
import { OrsSession } from "./ors-session.ts";
import type { OrsOptions } from "./options.ts";

const listedTask = z.looseObject({ task: z.record(z.string(), z.json()) });
/** Connections of all servers. Idle ones are closed soon, and none keeps a process alive that has ended its work. */
const agent = new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 });
const fetchOnce: Fetch = (url, init) => fetch(url, { ...init, dispatcher: agent });
/** Servers by the options of their sessions, which share them. */
const SERVERS = new WeakMap<OrsOptions, OrsServer>();

/** Returns the server of an environment under one set of options. */
export function serverOf(options: OrsOptions): OrsServer {
  let server = SERVERS.get(options);
  if (server === undefined) SERVERS.set(options, (server = new OrsServer(options)));
  return server;
}

/** ORS server under one set of options. */
class OrsServer implements RemoteServer {
  readonly places: Places;
  readonly #options: OrsOptions;
  readonly #client: HttpClient;
  #catalogue: Catalogue | undefined;

  constructor(options: OrsOptions) {
    const token = tokenOf(options);
    this.#options = options;
    this.places = new Places(options.max_sessions);
    this.#client = new HttpClient(options.url, token === undefined ? {} : { "x-api-key": token }, fetchOnce);
  }

  /** Reads the tasks of the server. Rejects with BRIDGE_REFUSED for a server without a catalogue. */
  async tasks(): Promise<TaskSource> {
    const { signal } = new AbortController();
    const { tasks } = await whenAvailable(this.#options.timeouts, signal, (late) => this.#read(late));
    return tasks;
  }

  async start(place: TaskPlace, seed: number | undefined, signal: AbortSignal): Promise<OrsEpisode> {
    const { environment } = await this.#read(signal);
    const prefix = environment === undefined ? "" : `/${pathOf(environment)}`;
    const task = await this.#task(prefix, place as { readonly split: string; readonly index: number }, seed, signal);
    const body = { ...defined({ env_name: environment }), ...task };
    const session = await OrsSession.open(this.#client, prefix, body, signal);
    return OrsEpisode.start(session, this.#options, signal);
  }

  async #read(signal: AbortSignal): Promise<Catalogue> {
    if (this.#catalogue !== undefined) return this.#catalogue;
    const catalogue = await catalogueOf(this.#client, this.#options, signal);
    if (!catalogue.isListed)
      throw new MrlmError("BRIDGE_REFUSED", `${this.#client.url} has no list of splits, which the protocol requires.`, {
        hint: "Check `url` and `environment`.",
      });
    this.#catalogue = catalogue;
    return catalogue;
  }

  /** Returns the task of a new session: its place, or with a seed the task itself with the seed in it. */
  async #task(
    prefix: string,
    { split, index }: { readonly split: string; readonly index: number },
    seed: number | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { seed_field: field } = this.#options;
    if (seed === undefined || field === undefined) return { split, index };
    const request = { method: "POST", path: `${prefix}/task`, body: { split, index }, signal } as const;
    const { task } = readShape(listedTask, await this.#client.json(request), "The answer to /task");
    return { task_spec: { ...(task as JsonObject), [field]: seed } };
  }
}
