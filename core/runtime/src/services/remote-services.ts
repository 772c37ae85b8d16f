import { Calls, type Channel } from "@mrlm/process";
import {
  defined,
  type GradingOptions,
  type Judge,
  MrlmError,
  type OpenToolset,
  type Sandbox,
  type SandboxSession,
  type Scorer,
  type Tool,
  type Toolset,
  type ToolDefinition,
  type Workspace,
  type Workspaces,
  type WorkspaceShell,
} from "@mrlm/spec";
import type { ServiceKind, Services, ServiceTypes } from "../plugins/plugin-kinds.ts";
import { recordPlugin } from "../plugins/service-plugins.ts";
import type { CallEvent, ObjectState, RemoteObject, ServiceCalls } from "./service-messages.ts";

/** Options of a call with the parts that are no data. */
interface Parts {
  readonly signal?: AbortSignal;
  queued?<T>(wait: () => Promise<T>): Promise<T>;
  progressed?(): void;
  onOutput?(bytes: Uint8Array, stream: "stdout" | "stderr"): void;
}

/** Returns the services of the process that serves them on this channel. They behave as services of this process; what an abort ends there ends the call here. */
export function remoteServices(channel: Channel): Services {
  const remote = new RemoteServices(channel);
  return { service: (kind, id, asker) => remote.service(kind, id, asker) };
}

class RemoteServices {
  readonly #calls: Calls<ServiceCalls>;
  /** Ends of the waits for places that calls are in. */
  readonly #waits = new Map<number, () => void>();
  readonly #services = new Map<string, Promise<unknown>>();
  /** Live values of objects, by id. */
  readonly #values = new Map<number, RemoteObject["values"]>();
  readonly #tools = new Map<number, Tool>();
  /** Ids of the workspaces that were opened here, which tools may work in. */
  readonly #workspaces = new WeakMap<Workspace, number>();

  constructor(channel: Channel) {
    this.#calls = new Calls(channel, (body) => {
      const { object, values } = body as ObjectState;
      if (values["hasEnded"] === true) this.#values.delete(object);
      else this.#values.set(object, values);
    });
  }

  service<K extends ServiceKind>(kind: K, id: string, asker: string): Promise<ServiceTypes[K]> {
    const key = `${kind}:${id}`;
    const known = this.#services.get(key) as Promise<ServiceTypes[K]> | undefined;
    if (known !== undefined) return known;
    const asked = this.#calls.call("service", [kind, id, asker]);
    const service = asked.then((remote) => this.#objectOf(remote)) as Promise<ServiceTypes[K]>;
    this.#services.set(key, service);
    service.catch(() => this.#services.delete(key));
    return service;
  }

  /** Calls a method with data, and with options as the last argument. */
  async #call<T>(object: number, method: string, given: readonly unknown[], options?: Parts): Promise<T> {
    const { signal, queued, progressed, onOutput, ...plain } = options ?? {};
    const parts = {
      signal: signal !== undefined,
      queued: queued !== undefined,
      progressed: progressed !== undefined,
      output: onOutput !== undefined,
    };
    const call = { object, method, given, options: options && withoutFunctions(plain), parts };
    const onEvent = (event: unknown): void => this.#receive(event as CallEvent, options ?? {});
    const answer = await this.#calls.call("call", [call], { signal, onEvent });
    return ("opened" in answer ? this.#objectOf(answer.opened) : answer.value) as T;
  }

  #receive(event: CallEvent, parts: Parts): void {
    if (event === "progressed") return parts.progressed?.();
    if ("output" in event) return parts.onOutput?.(event.output, event.stream);
    const { wait, isOver } = event;
    if (isOver) {
      this.#waits.get(wait)?.();
      this.#waits.delete(wait);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waits.set(wait, resolve);
    parts.queued?.(() => promise).catch(() => undefined);
  }

  /** Throws PLUGIN_INVALID for another object than the one that was opened: a toolset in another process would open a workspace of its own. */
  #idOf(workspace: Workspace): number {
    const id = this.#workspaces.get(workspace);
    if (id === undefined)
      throw new MrlmError(
        "PLUGIN_INVALID",
        "A toolset in another process received a workspace that it does not know.",
        {
          hint: "Pass the object that `context.workspaces(...).open` returned, and no copy of it.",
        },
      );
    return id;
  }

  #objectOf(remote: RemoteObject): object {
    this.#values.set(remote.id, remote.values);
    const made = this.#make(remote);
    recordPlugin(made, remote.plugin);
    return made;
  }

  #make(remote: RemoteObject): object {
    const { id, values } = remote;
    switch (remote.kind) {
      case "scorer":
        return { ...defined(values), score: (request) => this.#call(id, "score", [], request) } satisfies Scorer;
      case "judge":
        return {
          ...defined(values),
          judge: (request, options: GradingOptions) => this.#call(id, "judge", [request], options),
        } satisfies Judge;
      case "sandbox":
        return this.#sandbox(remote);
      case "tool":
        return {
          ...defined(values),
          open: ({ random: _, workspace, ...episode }) =>
            this.#call(id, "open", [], {
              ...episode,
              ...(workspace !== undefined && { workspace: this.#idOf(workspace) }),
            }),
        } satisfies Toolset;
      case "workspace":
        return {
          ...(defined(values) as Pick<Workspaces, "limits" | "sockets">),
          open: (options = {}) => this.#call(id, "open", [], options),
          // It is shared with others. The process that has it closes it.
          close: async () => undefined,
        } satisfies Workspaces;
      case "files":
        return this.#files(id);
      case "shell":
        return this.#shell(id);
      case "session":
        return this.#session(remote);
      case "opened":
        return this.#opened(id);
      case "function":
        return this.#toolOf(remote);
    }
  }

  #sandbox({ id, values }: RemoteObject): Sandbox {
    return {
      ...(defined(values) as Pick<Sandbox, "language" | "limits" | "children">),
      run: (submission, options = {}) => this.#call(id, "run", [submission], options),
      test: (submission, suite, options = {}) => this.#call(id, "test", [submission, suite], options),
      session: (options = {}) => this.#call(id, "session", [], options),
      warm: () => this.#call(id, "warm", []),
      layers: () => this.#call(id, "layers", []),
      // It is shared with others. The process that has it closes it.
      close: async () => undefined,
    };
  }

  #session({ id, methods }: RemoteObject): SandboxSession {
    const values = this.#values;
    return {
      get end() {
        return values.get(id)?.["end"] as SandboxSession["end"];
      },
      evaluate: (submission, options = {}) => this.#call(id, "evaluate", [submission], options),
      ...(methods.includes("snapshot") && {
        snapshot: (options = {}) => this.#call<string>(id, "snapshot", [], options),
      }),
      ...(methods.includes("restore") && {
        restore: (name: string, options = {}) => this.#call<void>(id, "restore", [name], options),
      }),
      close: async () => {
        if (!values.has(id)) return;
        await this.#call(id, "close", []);
        values.set(id, { end: "closed" });
      },
    };
  }

  #files(id: number): Workspace {
    const workspace: Workspace = {
      exec: (command, options = {}) => this.#call(id, "exec", [command], options),
      shell: () => this.#call(id, "shell", []),
      readFile: (path) => this.#call(id, "readFile", [path]),
      writeFile: (path, content) => this.#call(id, "writeFile", [path, content]),
      list: (path) => this.#call(id, "list", [path]),
      snapshot: (options = {}) => this.#call(id, "snapshot", [options]),
      restore: (snapshot) => this.#call(id, "restore", [snapshot]),
      close: () => this.#closeOnce(id),
    };
    this.#workspaces.set(workspace, id);
    return workspace;
  }

  #shell(id: number): WorkspaceShell {
    const values = this.#values;
    return {
      get hasEnded() {
        return values.get(id)?.["hasEnded"] !== false;
      },
      run: (commands, options = {}) => this.#call(id, "run", [commands], options),
      close: () => this.#closeOnce(id),
    };
  }

  async #closeOnce(id: number): Promise<void> {
    if (!this.#values.delete(id)) return;
    await this.#call(id, "close", []);
  }

  #opened(id: number): OpenToolset {
    const present = (): readonly Tool[] =>
      ((this.#values.get(id)?.["tools"] ?? []) as readonly RemoteObject[]).map((tool) => this.#toolOf(tool));
    return {
      get tools() {
        return present();
      },
      close: async () => {
        await this.#call(id, "close", []);
        for (const tool of (this.#values.get(id)?.["tools"] ?? []) as readonly RemoteObject[])
          this.#tools.delete(tool.id);
        this.#values.delete(id);
      },
    };
  }

  #toolOf({ id, values }: RemoteObject): Tool {
    let tool = this.#tools.get(id);
    if (tool === undefined) {
      tool = {
        ...(defined(values) as unknown as ToolDefinition),
        call: (args, options) => this.#call(id, "call", [args], options),
      };
      this.#tools.set(id, tool);
    }
    return tool;
  }
}

/** Leaves out functions, which cannot be copied. */
function withoutFunctions(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value !== "function"));
}
