import { type JudgeRequest, MrlmError, type PluginContext, type Sandbox, type Toolset } from "@mrlm/spec";
import type { AnyPlugin } from "../any-plugin.ts";

/** Service of a plugin that is made to fail. */
export interface FailingService {
  readonly kind: "scorer" | "judge" | "sandbox" | "tool";
  readonly id: string;
}

/** Plugins of which one service fails, and whether it was called. */
export interface FailingPlugins {
  readonly plugins: readonly AnyPlugin[];
  wasCalled(): boolean;
}

/** Plugins that note which of their services are created. */
export interface NotingPlugins {
  readonly plugins: readonly AnyPlugin[];
  wasCreated(service: FailingService): boolean;
}

/** Lists the services of plugins. */
export function servicesOf(plugins: readonly AnyPlugin[]): FailingService[] {
  return plugins.flatMap(({ scorers = {}, judges = {}, sandboxes = {}, tools = {} }) => [
    ...Object.keys(scorers).map((id) => ({ kind: "scorer" as const, id })),
    ...Object.keys(judges).map((id) => ({ kind: "judge" as const, id })),
    ...Object.keys(sandboxes).map((id) => ({ kind: "sandbox" as const, id })),
    ...Object.keys(tools).map((id) => ({ kind: "tool" as const, id })),
  ]);
}

/** Returns the plugins with factories that note which services are created. */
export function withNotes(plugins: readonly AnyPlugin[]): NotingPlugins {
  const created = new Set<string>();
  const noting = <F extends (...args: never[]) => unknown>(
    kind: FailingService["kind"],
    factories: Readonly<Record<string, F>> = {},
  ): Record<string, F> =>
    Object.fromEntries(
      Object.entries(factories).map(([id, factory]) => {
        const noted = (...args: Parameters<F>): unknown => {
          created.add(`${kind}:${id}`);
          return factory(...args);
        };
        return [id, noted as F];
      }),
    );
  const replaced = plugins.map((plugin): AnyPlugin => ({
    ...plugin,
    ...(plugin.scorers && { scorers: noting("scorer", plugin.scorers) }),
    ...(plugin.judges && { judges: noting("judge", plugin.judges) }),
    ...(plugin.sandboxes && { sandboxes: noting("sandbox", plugin.sandboxes) }),
    ...(plugin.tools && { tools: noting("tool", plugin.tools) }),
  }));
  return { plugins: replaced, wasCreated: ({ kind, id }) => created.has(`${kind}:${id}`) };
}

/** Returns the plugins with a service whose work fails: it can be created and opened, but it answers nothing. */
export function withFailing(plugins: readonly AnyPlugin[], { kind, id }: FailingService): FailingPlugins {
  let called = false;
  const fail = (code: "SANDBOX_FAILED" | "SCORER_FAILED" | "TOOL_FAILED"): Promise<never> => {
    called = true;
    return Promise.reject(new MrlmError(code, `The ${kind} ${id} was made to fail by a check.`));
  };
  const replaced = plugins.map((plugin): AnyPlugin => {
    const { scorers, judges, sandboxes, tools } = plugin;
    if (kind === "scorer" && scorers?.[id] !== undefined)
      return { ...plugin, scorers: { ...scorers, [id]: () => ({ score: () => fail("SCORER_FAILED") }) } };
    if (kind === "judge" && judges?.[id] !== undefined)
      return { ...plugin, judges: { ...judges, [id]: () => ({ judge: (_: JudgeRequest) => fail("SCORER_FAILED") }) } };
    const sandbox = sandboxes?.[id];
    if (kind === "sandbox" && sandbox !== undefined) {
      const create = async (context: PluginContext, options: unknown): Promise<Sandbox> =>
        failingSandbox(await sandbox(context, options), () => fail("SANDBOX_FAILED"));
      return { ...plugin, sandboxes: { ...sandboxes, [id]: create } };
    }
    const toolset = tools?.[id];
    if (kind === "tool" && toolset !== undefined) {
      const create = async (context: PluginContext, options: unknown): Promise<Toolset> =>
        failingTools(await toolset(context, options), () => fail("TOOL_FAILED"));
      return { ...plugin, tools: { ...tools, [id]: create } };
    }
    return plugin;
  });
  return { plugins: replaced, wasCalled: () => called };
}

/** Returns the sandbox with methods that fail, except those that describe and close it. */
function failingSandbox(sandbox: Sandbox, fail: () => Promise<never>): Sandbox {
  return new Proxy(sandbox, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return name === "close" || name === "layers" ? member.bind(target) : fail;
    },
  });
}

function failingTools(toolset: Toolset, fail: () => Promise<never>): Toolset {
  return new Proxy(toolset, {
    get: (target, name) => {
      if (name !== "open") {
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      }
      return async (...args: Parameters<Toolset["open"]>) => {
        const opened = await target.open(...args);
        const tools = opened.tools.map((tool) => ({ ...tool, call: fail }));
        return { tools, close: () => opened.close() };
      };
    },
  });
}
