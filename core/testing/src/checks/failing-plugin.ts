import { definePlugin } from "@mrlm/kit";
import { type Factory, MrlmError, type Plugin } from "@mrlm/spec";
import type { AnyPlugin } from "../any-plugin.ts";

/** Returns a plugin that provides the same services, of which every call fails. */
export function failingPlugin({ name, scorers, judges, sandboxes, tools }: AnyPlugin): Plugin {
  return definePlugin({
    name,
    ...(scorers && { scorers: failing(scorers) }),
    ...(judges && { judges: failing(judges) }),
    ...(sandboxes && { sandboxes: failing(sandboxes) }),
    ...(tools && { tools: failing(tools) }),
  });
}

function failing<T extends object>(
  factories: Readonly<Record<string, Factory<T, never>>>,
): Record<string, Factory<T, unknown>> {
  // A proxy of a service is one where only calls matter: every member is a function that rejects.
  const service = (id: string): T =>
    new Proxy({} as T, {
      get: (_target, member) =>
        ["then", "determinism", "definitions", "close"].includes(String(member))
          ? undefined
          : async () => {
              throw new MrlmError("SANDBOX_FAILED", `${id} fails during a check.`);
            },
    });
  return Object.fromEntries(Object.keys(factories).map((id) => [id, () => service(id)]));
}
