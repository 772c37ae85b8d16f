import { MrlmError, type OpenToolset, type SandboxSession, type Tool } from "@mrlm/spec";
import { isDeepStrictEqual } from "node:util";
import type { Services } from "../plugins/plugin-kinds.ts";
import { pluginOf } from "../plugins/service-plugins.ts";
import { toolRandom } from "../host/tool-random.ts";
import {
  type CallParts,
  errorMessage,
  type FromServices,
  type RemoteObject,
  type ServiceChannel,
  type ToServices,
} from "./service-messages.ts";

/** Values of each kind of object that its users read without a call. */
const VALUES = {
  scorer: ["determinism"],
  judge: ["determinism"],
  sandbox: ["language", "limits", "children"],
  tool: ["determinism", "definitions"],
  session: ["end"],
  opened: [],
  function: ["name", "description", "parameters", "timeoutMs", "maxTimeoutMs", "outputBytes"],
} as const satisfies Record<RemoteObject["kind"], readonly string[]>;

/** Methods that an object need not have. */
const OPTIONAL_METHODS = ["snapshot", "restore"] as const;

/** Calls that open an object, with its kind. */
const OPENED_BY: Readonly<Record<string, RemoteObject["kind"]>> = {
  "sandbox.session": "session",
  "tool.open": "opened",
};

const ABORTED = new MrlmError("CANCELLED", "The caller of a service aborted its call.");

/** Interval in which changes of sessions and tools are looked for, in milliseconds; they are sent with each response too. */
const STATE_MS = 100;

interface Entry {
  readonly object: Record<string, unknown>;
  readonly kind: RemoteObject["kind"];
  /** Id of a service. */
  readonly name: string;
  values: RemoteObject["values"];
}

/**
 * Serves the services of this process to another, until that is gone: then its calls are aborted, and its sessions and open tools are closed. The services themselves
 * are shared with everyone who asks for them.
 */
export function serveServices(channel: ServiceChannel, services: Services): void {
  const served = new ServedServices(channel, services);
  served.start();
}

class ServedServices {
  readonly #channel: ServiceChannel;
  readonly #services: Services;
  readonly #entries = new Map<number, Entry>();
  readonly #ids = new WeakMap<object, number>();
  readonly #calls = new Map<number, AbortController>();
  #lastId = 0;
  #lastWait = 0;

  constructor(channel: ServiceChannel, services: Services) {
    this.#channel = channel;
    this.#services = services;
  }

  start(): void {
    const channel = this.#channel;
    const remove = channel.onMessage((body) => this.#receive(body as ToServices));
    const watch = setInterval(() => this.#sendStates(), STATE_MS).unref();
    channel.closed.addEventListener(
      "abort",
      () => {
        remove();
        clearInterval(watch);
        this.#release();
      },
      { once: true },
    );
  }

  #receive(message: ToServices): void {
    if (message.type === "abort") return void this.#calls.get(message.call)?.abort(ABORTED);
    const { call } = message;
    const controller = new AbortController();
    this.#calls.set(call, controller);
    if (message.type === "call" && message.parts.signal === "aborted") controller.abort(ABORTED);
    const done = message.type === "service" ? this.#service(message) : this.#call(message, controller.signal);
    void done
      .catch((error: unknown): FromServices => ({ type: "error", call, error: errorMessage(error) }))
      .then((answer) => {
        this.#calls.delete(call);
        this.#sendStates();
        this.#answer(call, answer);
      });
  }

  async #service({ call, kind, id, asker }: Extract<ToServices, { type: "service" }>): Promise<FromServices> {
    const service = await this.#services.service(kind, id, asker);
    return { type: "object", call, object: this.#describe(service, kind, id) };
  }

  async #call(message: Extract<ToServices, { type: "call" }>, signal: AbortSignal): Promise<FromServices> {
    const { call, object, method, given, options, parts } = message;
    const entry = this.#entries.get(object);
    // A closed object has no entry. A session of this process returns the same code for a call after its end.
    if (entry === undefined) throw new MrlmError("SESSION_NOT_FOUND", `It was closed before a call of ${method}.`);
    const target = entry.object[method];
    if (typeof target !== "function") throw new TypeError(`A ${entry.kind} has no method ${method}.`);
    const last = options === undefined ? [] : [this.#options(call, entry, method, { options, parts, signal })];
    const value: unknown = await target.call(entry.object, ...given, ...last);
    if (method === "close") this.#forget(object, entry);
    const kind = OPENED_BY[`${entry.kind}.${method}`];
    if (kind === undefined) return { type: "value", call, value };
    const opened = value as SandboxSession | OpenToolset;
    if (this.#channel.closed.aborted || signal.aborted) {
      await opened.close();
      signal.throwIfAborted();
    }
    return { type: "object", call, object: this.#describe(opened, kind, entry.name) };
  }

  #options(
    call: number,
    { kind, name }: Entry,
    method: string,
    given: { readonly options: object; readonly parts: CallParts; readonly signal: AbortSignal },
  ): object {
    const { options, parts, signal } = given;
    const seed = (options as { readonly seed?: number | null }).seed ?? null;
    return {
      ...options,
      ...(parts.signal !== false && { signal }),
      ...(parts.queued && { queued: <T>(wait: () => Promise<T>) => this.#queued(call, wait) }),
      ...(parts.progressed && { progressed: () => this.#send({ type: "progressed", call }) }),
      ...(kind === "tool" && method === "open" && { random: toolRandom(name, seed) }),
    };
  }

  async #queued<T>(call: number, work: () => Promise<T>): Promise<T> {
    const wait = ++this.#lastWait;
    this.#send({ type: "wait", call, wait, isOver: false });
    try {
      return await work();
    } finally {
      this.#send({ type: "wait", call, wait, isOver: true });
    }
  }

  #describe(object: object, kind: RemoteObject["kind"], name: string): RemoteObject {
    const id = this.#ids.get(object) ?? ++this.#lastId;
    const plugin = pluginOf(object);
    this.#ids.set(object, id);
    const entry: Entry = { object: object as Record<string, unknown>, kind, name, values: {} };
    entry.values = this.#valuesOf(entry);
    this.#entries.set(id, entry);
    const methods = OPTIONAL_METHODS.filter((method) => typeof entry.object[method] === "function");
    return { id, kind, values: entry.values, methods, ...(plugin !== undefined && { plugin }) };
  }

  #valuesOf({ object, kind, name }: Entry): RemoteObject["values"] {
    const values = Object.fromEntries(VALUES[kind].map((key) => [key, object[key]]));
    if (kind !== "opened") return values;
    const { tools } = object as unknown as OpenToolset;
    return { tools: tools.map((tool: Tool) => this.#describe(tool, "function", name)) };
  }

  #forget(id: number, { kind, values }: Entry): void {
    this.#entries.delete(id);
    if (kind === "opened") for (const tool of values["tools"] as readonly RemoteObject[]) this.#entries.delete(tool.id);
  }

  #sendStates(): void {
    for (const [id, entry] of this.#entries) {
      if (entry.kind !== "session" && entry.kind !== "opened") continue;
      const values = this.#valuesOf(entry);
      if (isDeepStrictEqual(values, entry.values)) continue;
      entry.values = values;
      this.#send({ type: "state", object: id, values });
    }
  }

  #answer(call: number, answer: FromServices): void {
    try {
      this.#send(answer);
    } catch (error) {
      // A plugin returned a value that is no data.
      this.#send({ type: "error", call, error: errorMessage(error) });
    }
  }

  #send(message: FromServices): void {
    if (!this.#channel.closed.aborted) this.#channel.send(message);
  }

  #release(): void {
    for (const controller of this.#calls.values()) controller.abort(ABORTED);
    for (const { object, kind } of this.#entries.values())
      if (kind === "session" || kind === "opened")
        void (object as unknown as SandboxSession | OpenToolset).close().catch(() => undefined);
    this.#entries.clear();
  }
}
