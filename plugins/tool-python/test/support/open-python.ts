import { type OpenToolset, randomStream, type Sandbox, type Tool, type ToolCallOptions } from "@mrlm/kit";
import type { ToolEpisode } from "@mrlm/spec";
import { type PythonToolOptions, PythonToolset } from "../../src/python-toolset.ts";

/** Tool of one episode, for tests. */
export interface OpenPython extends OpenToolset {
  readonly tool: Tool;
  /** Calls the tool. Returns the text of the result; that of an error begins with `ERROR `. */
  call(code: string, options?: Partial<ToolCallOptions>): Promise<string>;
}

/** Options of the toolset, and files of the task. */
export type OpenPythonOptions = Partial<PythonToolOptions> & Pick<ToolEpisode, "files">;

/** Opens the toolset for one episode. */
export async function openPython(
  sandbox: Sandbox,
  { files = {}, ...options }: OpenPythonOptions = {},
): Promise<OpenPython> {
  const { signal } = new AbortController();
  const toolset = new PythonToolset(sandbox, { idleMs: 600_000, ...options });
  const open = await toolset.open({ seed: 1, files, signal, random: (name) => randomStream(name, 1) });
  const tool = open.tools[0] as Tool;
  return {
    ...open,
    tool,
    call: async (code, given = {}) => {
      const { content, isError } = await tool.call({ code }, { signal, ...given });
      return `${isError ? "ERROR " : ""}${content[0]?.type === "text" ? content[0].text : ""}`;
    },
  };
}
