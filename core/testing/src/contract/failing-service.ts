import { MrlmError, type Toolset, type Workspaces } from "@mrlm/spec";
import type { AnyPlugin } from "../any-plugin.ts";

/** Service of a plugin. */
export interface PluginService {
  readonly kind: "scorer" | "judge" | "sandbox" | "tool" | "workspace";
  readonly id: string;
}

/** Lists the services of plugins. */
export function servicesOf(plugins: readonly AnyPlugin[]): PluginService[] {
  return plugins.flatMap(({ scorers = {}, judges = {}, sandboxes = {}, tools = {}, workspaces = {} }) => [
    ...Object.keys(scorers).map((id) => ({ kind: "scorer" as const, id })),
    ...Object.keys(judges).map((id) => ({ kind: "judge" as const, id })),
    ...Object.keys(sandboxes).map((id) => ({ kind: "sandbox" as const, id })),
    ...Object.keys(tools).map((id) => ({ kind: "tool" as const, id })),
    ...Object.keys(workspaces).map((id) => ({ kind: "workspace" as const, id })),
  ]);
}

const CODES = {
  scorer: "SCORER_FAILED",
  judge: "SCORER_FAILED",
  sandbox: "SANDBOX_FAILED",
  tool: "TOOL_FAILED",
  workspace: "SANDBOX_FAILED",
} as const satisfies Record<PluginService["kind"], string>;

/** Returns a rejection where the service of a call is to fail. */
type Fault = () => Promise<never> | undefined;

/** Plugins of which one service can be made to fail: it is created and opened, but it answers nothing. */
export class FailingServices {
  readonly plugins: readonly AnyPlugin[];
  /** Service that fails now. */
  failing: PluginService | undefined;
  readonly #called = new Set<string>();

  constructor(plugins: readonly AnyPlugin[]) {
    this.plugins = plugins.map((plugin) => {
      const { scorers, judges, sandboxes, tools, workspaces } = plugin;
      return {
        ...plugin,
        ...(scorers && { scorers: this.#wrapped("scorer", scorers, failingCalls) }),
        ...(judges && { judges: this.#wrapped("judge", judges, failingCalls) }),
        ...(sandboxes && { sandboxes: this.#wrapped("sandbox", sandboxes, failingCalls) }),
        ...(tools && { tools: this.#wrapped("tool", tools, failingTools) }),
        ...(workspaces && { workspaces: this.#wrapped("workspace", workspaces, failingWorkspaces) }),
      };
    });
  }

  /** Returns the services that were called since the last time. */
  takeCalled(): PluginService[] {
    const called = servicesOf(this.plugins).filter(({ kind, id }) => this.#called.has(`${kind}:${id}`));
    this.#called.clear();
    return called;
  }

  #wrapped<Service extends object, Args extends readonly unknown[]>(
    kind: PluginService["kind"],
    factories: Readonly<Record<string, (...args: Args) => Service | Promise<Service>>>,
    wrap: (service: Service, fault: Fault) => Service,
  ): Record<string, (...args: Args) => Promise<Service>> {
    return Object.fromEntries(
      Object.entries(factories).map(([id, factory]) => {
        const fault: Fault = () => {
          this.#called.add(`${kind}:${id}`);
          const isFailing = this.failing?.kind === kind && this.failing.id === id;
          const message = `The ${kind} ${id} was made to fail by a check.`;
          return isFailing ? Promise.reject(new MrlmError(CODES[kind], message)) : undefined;
        };
        return [id, async (...args: Args) => wrap(await factory(...args), fault)];
      }),
    );
  }
}

/** Returns the service with methods that can fail, except those that describe and close it. */
function failingCalls<Service extends object>(service: Service, fault: Fault): Service {
  return new Proxy(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      const call = member.bind(target) as (...args: unknown[]) => unknown;
      return name === "close" || name === "layers" ? call : (...args: unknown[]) => fault() ?? call(...args);
    },
  });
}

/** Returns the toolset with tools that can fail. */
function failingTools(toolset: Toolset, fault: Fault): Toolset {
  return replaced(
    toolset,
    "open",
    (open) => async (episode: Parameters<Toolset["open"]>[0]) =>
      // A toolset may replace its tools between two turns.
      replaced(await open(episode), "tools", (tools) => tools.map((tool) => failingCalls(tool, fault))),
  );
}

/** Returns the provider with workspaces that can fail. */
function failingWorkspaces(workspaces: Workspaces, fault: Fault): Workspaces {
  return replaced(
    workspaces,
    "open",
    (open) => async (options: Parameters<Workspaces["open"]>[0]) => failingCalls(await open(options), fault),
  );
}

/** Returns the object with another member, made anew from the real one each time it is read. */
function replaced<T extends object, K extends keyof T>(object: T, key: K, make: (member: T[K]) => T[K]): T {
  return new Proxy(object, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      const own: unknown = typeof member === "function" ? member.bind(target) : member;
      return name === key ? make(own as T[K]) : own;
    },
  });
}
