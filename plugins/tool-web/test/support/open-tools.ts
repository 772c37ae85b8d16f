import type { JsonObject, ToolResult } from "@mrlm/kit";
import type { z } from "zod";
import { options } from "../../src/options.ts";
import { WorkerPool } from "../../src/worker/worker-pool.ts";
import { createWebToolset, type WebToolsetSystem } from "../../src/web-toolset.ts";

/** Tools of one episode, called by name. */
export interface OpenTools {
  call(name: "search" | "fetch", args: JsonObject, signal?: AbortSignal): Promise<ToolResult>;
  close(): Promise<void>;
}

/** Worker threads of all toolsets of one test file: a thread needs half a second to start. */
const pool = new WorkerPool({ threads: 1, cpuMs: 2000, memoryMib: 200 });

/** Creates a toolset and opens one episode. */
export async function openTools(
  chosen: z.input<typeof options>,
  { files = {}, ...system }: WebToolsetSystem & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<OpenTools> {
  const toolset = await createWebToolset(options.parse(chosen), { pool, ...system });
  const { tools, close } = await toolset.open({ files });
  return {
    call: async (name, args, signal = new AbortController().signal) =>
      await tools.find((tool) => tool.name === name)!.call(args, { signal }),
    async close() {
      await close();
      await toolset.close();
    },
  };
}

/** Text of a result. */
export const textOf = ({ content }: ToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("");
