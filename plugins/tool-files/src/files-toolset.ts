import { tmpdir } from "node:os";
import {
  type JsonObject,
  MrlmError,
  type OpenToolset,
  type Tool,
  type ToolDefinition,
  type ToolResult,
  type Toolset,
} from "@mrlm/kit";
import type { ToolEpisode } from "@mrlm/spec";
import type { FileTree, Quota } from "./file-tree.ts";
import { Refused } from "./refused.ts";
import { type FileTool, fileTools } from "./tools.ts";
import { type Root, Workspace } from "./workspace.ts";

/** Limits of the file tools. */
export interface FilesOptions extends Quota {
  /** UTF-8 bytes of a result. */
  readonly outputBytes: number;
  /** Existing directory in which the roots are created; default the system's directory for temporary files. */
  readonly directory?: string | undefined;
}

/** Toolset with the file tools. Each episode has its own root, which contains the files of its task and is removed with it. */
export class FilesToolset implements Toolset {
  readonly definitions: readonly ToolDefinition[] = fileTools.map(({ run: _run, ...definition }) => definition);
  readonly #options: FilesOptions;
  #workspace: Promise<Workspace> | undefined;
  #episodes = 0;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Creates the root. A file of the task that the limits do not permit is DATA_INVALID. */
  async open({ files = {}, signal }: Pick<ToolEpisode, "files" | "signal">): Promise<OpenToolset> {
    signal.throwIfAborted();
    this.#episodes++;
    let root: Root | undefined;
    const release = async (): Promise<void> => await this.#release(root);
    try {
      root = await (
        await (this.#workspace ??= Workspace.create(this.#options.directory ?? tmpdir()))
      ).openRoot(this.#options);
      await fill(root.tree, files);
    } catch (error) {
      await release();
      throw error;
    }
    const { tree } = root;
    // One call at a time: what a call checks holds until it is done.
    let last: Promise<unknown> = Promise.resolve();
    const tools = fileTools.map((tool): Tool => {
      const { run: _run, ...definition } = tool;
      const call: Tool["call"] = async (args, { signal }) => {
        const result = last.then(async () => {
          signal.throwIfAborted();
          return await runTool(tool, tree, args);
        });
        last = result.catch(() => undefined);
        return await result;
      };
      return { ...definition, outputBytes: this.#options.outputBytes, call };
    });
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => await (closed ??= last.then(release));
    return { tools, close };
  }

  /** Removes a root, and with the last one the directory of this process. */
  async #release(root: Root | undefined): Promise<void> {
    try {
      await root?.close();
    } finally {
      this.#episodes--;
      if (this.#episodes === 0) {
        const workspace = this.#workspace;
        this.#workspace = undefined;
        await (await workspace?.catch(() => undefined))?.close();
      }
    }
  }
}

async function runTool(tool: FileTool, tree: FileTree, args: JsonObject): Promise<ToolResult> {
  try {
    return textResult(await tool.run(tree, args), false);
  } catch (error) {
    const { code = "", syscall = "" } = error as NodeJS.ErrnoException;
    const refusal = error instanceof Refused ? error.message : REFUSALS.get(code);
    if (refusal !== undefined) return textResult(`Error: ${refusal}.`, true);
    const reason = code === "" ? String(error) : `${syscall} ${code}`;
    throw new MrlmError("TOOL_FAILED", `The tool ${tool.name} failed: ${reason}`, { cause: error });
  }
}

function textResult(text: string, isError: boolean): ToolResult {
  return { content: [{ type: "text", text }], isError };
}

/** Errors of file systems that accept fewer names than those of Linux, as messages for the policy. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["ENAMETOOLONG", "A name of the path is too long for the file system"],
  ["EILSEQ", "The file system does not support a character of the path"],
  ["EINVAL", "The file system does not support the path, or a directory would be moved into itself"],
]);

async function fill(tree: FileTree, files: NonNullable<ToolEpisode["files"]>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    try {
      await tree.write(path, typeof content === "string" ? Buffer.from(content) : content);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new MrlmError(
        "DATA_INVALID",
        `The file ${JSON.stringify(path)} of the task cannot be created: ${error.message}.`,
        {
          hint: "Correct the path, or raise the limit in the options of tool:files@1.",
          cause: error,
        },
      );
    }
  }
}
