import { type Channel, type Notify, serveCalls, type ServedCall } from "@mrlm/process";
import { defined, MrlmError, type OpenToolset, type SandboxSession, type Tool, type Workspace } from "@mrlm/spec";
import { isDeepStrictEqual } from "node:util";
import type { Services } from "../plugins/plugin-kinds.ts";
import { pluginOf } from "../plugins/service-plugins.ts";
import { describeThrown } from "../plugins/error-location.ts";
import { toolRandom } from "../host/tool-random.ts";
import type { CallEvent, CallParts, ObjectCall, ObjectState, RemoteObject, ServiceCalls } from "./service-messages.ts";

/** Values of each kind of object that its users read without a call. */
const VALUES = {
  scorer: ["determinism"],
  judge: ["determinism"],
  sandbox: ["language", "limits", "children"],
  tool: ["determinism", "definitions"],
  session: ["end"],
  workspace: ["limits", "sockets"],
  opened: [],
  files: [],
  shell: ["hasEnded"],
  function: ["name", "description", "parameters", "timeoutMs", "maxTimeoutMs", "outputBytes"],
} as const satisfies Record<RemoteObject["kind"], readonly string[]>;

/** Methods that an object need not have. */
const OPTIONAL_METHODS = ["snapshot", "restore"] as const;

/** Calls that open an object, with its kind. */
const OPENED_BY: Readonly<Record<string, RemoteObject["kind"]>> = {
  "sandbox.session": "session",
  "tool.open": "opened",
  "workspace.open": "files",
  "files.shell": "shell",
};

/** Kinds of objects that belong to their caller, and of those that change. */
const OWNED: readonly RemoteObject["kind"][] = ["session", "opened", "files", "shell"];
const CHANGING: readonly RemoteObject["kind"][] = ["session", "opened", "shell"];

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
 * Serves the services of this process to another, until that is gone: then its calls are aborted, and its sessions, open tools and workspaces are closed. The services themselves
 * are shared with everyone who asks for them.
 */
export function serveServices(channel: Channel, services: Services): void {
  new ServedServices(channel, services).start();
}

class ServedServices {
  readonly #channel: Channel;
  readonly #services: Services;
  readonly #entries = new Map<number, Entry>();
  readonly #ids = new WeakMap<object, number>();
  #notify: Notify = () => undefined;
  #lastId = 0;
  #lastWait = 0;

  constructor(channel: Channel, services: Services) {
    this.#channel = channel;
    this.#services = services;
  }

  start(): void {
    const channel = this.#channel;
    this.#notify = serveCalls<ServiceCalls>(channel, {
      answer: async (method, args, call) => {
        try {
          if (method === "call") return await this.#call(args[0] as ObjectCall, call);
          return await this.#service(...(args as Parameters<ServiceCalls["service"]>));
        } finally {
          // The answer finds the state that the call left.
          this.#sendStates();
        }
      },
      toSent: (error) => (MrlmError.isInstance(error) ? error : new Error(describeThrown(error))),
    });
    const watch = setInterval(() => this.#sendStates(), STATE_MS).unref();
    channel.closed.addEventListener(
      "abort",
      () => {
        clearInterval(watch);
        this.#release();
      },
      { once: true },
    );
  }

  async #service(...[kind, id, asker]: Parameters<ServiceCalls["service"]>): Promise<RemoteObject> {
    return this.#describe(await this.#services.service(kind, id, asker), kind, id);
  }

  async #call(
    { object, method, given, options, parts }: ObjectCall,
    call: ServedCall,
  ): Promise<ReturnType<ServiceCalls["call"]>> {
    const entry = this.#entryOf(object, method);
    const target = entry.object[method];
    if (typeof target !== "function") throw new TypeError(`A ${entry.kind} has no method ${method}.`);
    const last = options === undefined ? [] : [this.#options(entry, method, { options, parts, call })];
    const value: unknown = await target.call(entry.object, ...given, ...last);
    if (method === "close") this.#forget(object, entry);
    const kind = OPENED_BY[`${entry.kind}.${method}`];
    if (kind === undefined) return { value };
    const opened = value as SandboxSession | OpenToolset | Workspace;
    if (call.signal.aborted) {
      await opened.close();
      call.signal.throwIfAborted();
    }
    return { opened: this.#describe(opened, kind, entry.name) };
  }

  /** Returns what is served. A closed object has no entry; a session of this process rejects a call after its end with the same code. */
  #entryOf(object: number, method: string): Entry {
    const entry = this.#entries.get(object);
    if (entry === undefined) throw new MrlmError("SESSION_NOT_FOUND", `It was closed before a call of ${method}.`);
    return entry;
  }

  #options(
    { kind, name }: Entry,
    method: string,
    given: { readonly options: object; readonly parts: CallParts; readonly call: ServedCall },
  ): object {
    const { options, parts, call } = given;
    const { seed = null, workspace } = options as { readonly seed?: number | null; readonly workspace?: number };
    const send = (event: CallEvent): void => call.send(event);
    return {
      ...options,
      ...(parts.signal && { signal: call.signal }),
      ...(parts.queued && { queued: <T>(work: () => Promise<T>) => this.#queued(send, work) }),
      ...(parts.progressed && { progressed: () => send("progressed") }),
      ...(parts.output && {
        onOutput: (output: Uint8Array, stream: "stdout" | "stderr") => send({ output, stream }),
      }),
      ...(kind === "tool" && method === "open" && { random: toolRandom(name, seed) }),
      ...(kind === "tool" && workspace !== undefined && { workspace: this.#entryOf(workspace, method).object }),
    };
  }

  async #queued<T>(send: (event: CallEvent) => void, work: () => Promise<T>): Promise<T> {
    const wait = ++this.#lastWait;
    send({ wait, isOver: false });
    try {
      return await work();
    } finally {
      send({ wait, isOver: true });
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
    return { id, kind, values: entry.values, methods, ...defined({ plugin }) };
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
      if (!CHANGING.includes(entry.kind)) continue;
      const values = this.#valuesOf(entry);
      if (isDeepStrictEqual(values, entry.values)) continue;
      entry.values = values;
      this.#notify({ object: id, values } satisfies ObjectState);
      // A shell that has ended takes no call.
      if (values["hasEnded"] === true) this.#entries.delete(id);
    }
  }

  #release(): void {
    for (const { object, kind } of this.#entries.values())
      if (OWNED.includes(kind))
        void (object as unknown as SandboxSession | OpenToolset | Workspace).close().catch(() => undefined);
    this.#entries.clear();
  }
}
