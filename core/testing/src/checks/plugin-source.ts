import { definePlugin } from "@mrlm/kit";
import { PluginHost } from "@mrlm/runtime";
import { type ExampleContext, type Factory, type JsonObject, MrlmError, type Plugin } from "@mrlm/spec";
import type { AnyPlugin } from "../any-plugin.ts";
import { startChatServer } from "../chat-server.ts";
import type { PluginSubject } from "../check/plugin-part.ts";
import type { Source } from "../provision/source.ts";

/** Returns the source of a service or policy that a host makes from the options of the plugin's examples, with a model server if they have its replies. */
export function pluginSource<T>(
  { plugin, plugins }: Pick<PluginSubject, "plugin" | "plugins">,
  make: (host: PluginHost) => Promise<T>,
): Source<T> {
  const { endpoint } = plugin.examples ?? {};
  const others = plugins.filter((other) => other !== plugin);
  const open =
    (providers: readonly AnyPlugin[], isFailing: boolean): Source<T>["open"] =>
    async (directory) => {
      const server = await (endpoint &&
        startChatServer(({ body }) =>
          isFailing ? (response) => void response.writeHead(500).end() : endpoint({ messages: body.messages }),
        ));
      const baseUrl = server?.baseUrl ?? "";
      const options = optionsOf(plugin, { baseUrl, directory });
      const host = await PluginHost.of([plugin, ...providers], { plugins: { [plugin.name]: options } });
      const close = async (): Promise<void> => {
        await host.close();
        await server?.close();
      };
      try {
        return { value: await make(host), baseUrl, close };
      } catch (error) {
        await close();
        throw error;
      }
    };
  return {
    open: open(others, false),
    ...(endpoint === undefined && others.length === 0 ? {} : { openFailing: open(others.map(failingPlugin), true) }),
  };
}

function optionsOf({ examples: { options = {} } = {} }: AnyPlugin, context: ExampleContext): JsonObject {
  return typeof options === "function" ? options(context) : options;
}

/** Returns a plugin that provides the same services, of which every call fails. */
function failingPlugin({ name, scorers, judges, sandboxes, tools }: AnyPlugin): Plugin {
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
