import { type OpenToolset, type Plugin, randomStream, type Tool, type ToolCallOptions } from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import type { JsonObject, ToolEpisode } from "@mrlm/spec";
import { barePluginContext } from "@mrlm/testing";
import { ShellToolset, type ShellToolOptions } from "../../src/shell-toolset.ts";

// By a name in a variable, because no plugin imports another.
const provider: string = "@mrlm/workspace-local";
export const { default: workspacePlugin } = (await import(provider)) as { readonly default: Plugin };

/** Creates a provider of workspaces with the default options, or returns the reason why this machine has none. */
export async function makeWorkspaces(): Promise<Workspaces | string> {
  const parsed = await workspacePlugin.options?.["~standard"].validate({});
  const options = (parsed as { value: unknown }).value;
  try {
    return (await workspacePlugin.workspaces?.["linux"]?.(barePluginContext(), options)) as Workspaces;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Tools of one episode, for tests. */
export interface OpenShell extends OpenToolset {
  /** Calls a tool. Returns the text of the result; that of an error begins with `ERROR `. */
  call(name: "bash" | "edit", args: JsonObject, options?: Partial<ToolCallOptions>): Promise<string>;
}

/** Opens the toolset for one episode. */
export async function openShell(
  workspaces: Workspaces,
  { files = {}, workspace, ...options }: Partial<ShellToolOptions> & Pick<ToolEpisode, "files" | "workspace"> = {},
): Promise<OpenShell> {
  const { signal } = new AbortController();
  const toolset = new ShellToolset(workspaces, { timeoutMs: 30_000, ...options });
  const open = await toolset.open({
    seed: 1,
    files,
    ...(workspace !== undefined && { workspace }),
    signal,
    random: (name) => randomStream(name, 1),
  });
  return {
    ...open,
    call: async (name, args, given = {}) => {
      const called = open.tools.find((each) => each.name === name) as Tool;
      const { content, isError } = await called.call(args, { signal, ...given });
      return `${isError ? "ERROR " : ""}${content[0]?.type === "text" ? content[0].text : ""}`;
    },
  };
}
