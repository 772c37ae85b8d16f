import { mkdtempSync, readdirSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, Tool, ToolResult } from "@mrlm/kit";
import { type FilesOptions, FilesToolset } from "../../src/files-toolset.ts";

/** Limits of the tests. */
export const limits: FilesOptions = { bytes: 20_000, fileBytes: 10_000, entries: 40, depth: 6, outputBytes: 5_000 };

const { signal } = new AbortController();

/** Text of a result. */
export const textOf = ({ content }: ToolResult): string => (content[0]?.type === "text" ? content[0].text : "");

/** Tools of one episode, in a directory for temporary files of their own. */
export class Episode {
  /** Directory that contains the directory of the process, and nothing else. */
  readonly temporary = realpathSync(mkdtempSync(join(tmpdir(), "mrlm-files-test-")));
  #tools: ReadonlyMap<string, Tool> = new Map();
  #close: () => Promise<void> = async () => undefined;

  static async open(files: Record<string, string | Uint8Array> = {}, options = limits): Promise<Episode> {
    const episode = new Episode();
    const toolset = new FilesToolset({ ...options, directory: episode.temporary });
    const { tools, close } = await toolset.open({ files, signal }).catch((error: unknown) => {
      rmdirSync(episode.temporary); // fails unless the toolset left nothing
      throw error;
    });
    episode.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    episode.#close = close;
    return episode;
  }

  /** Path of the root on the host. */
  get root(): string {
    return join(this.temporary, readdirSync(this.temporary)[0]!, "roots", "0");
  }

  get toolNames(): string[] {
    return [...this.#tools.keys()];
  }

  async call(name: string, args: JsonObject): Promise<ToolResult> {
    return await this.#tools.get(name)!.call(args, { signal });
  }

  /** Returns the text of a result, with `Error: ` for an error. */
  async text(name: string, args: JsonObject): Promise<string> {
    return textOf(await this.call(name, args));
  }

  /** Closes the tools. Returns the files that are left. */
  async close(): Promise<string[]> {
    await this.#close();
    const left = readdirSync(this.temporary);
    rmSync(this.temporary, { recursive: true });
    return left;
  }
}
