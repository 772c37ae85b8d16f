import { openEpisodeTools } from "@mrlm/runtime";
import {
  defined,
  type OpenToolset,
  type ToolCallExample,
  type ToolExamples,
  type ToolResult,
  type Toolset,
} from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { serialise } from "../contract/serialise.ts";
import { never } from "../contract/play.ts";

/** Toolset under check. */
export interface ToolSubject extends ToolExamples {
  readonly toolset: Toolset;
  readonly directory: string;
  readonly slow: ToolCallExample | undefined;
  /** Episodes that are open at once. */
  readonly episodes: number;
  /** Time in milliseconds after which what an episode used must be released. */
  readonly releaseMs: number;
}

/** Check of one property of a toolset. */
export type ToolCheck = Check<ToolSubject>;

/** Opens an episode as a host does. */
export function openEpisode(
  { toolset, files }: ToolSubject,
  { seed = 1, signal = never }: { readonly seed?: number; readonly signal?: AbortSignal } = {},
): Promise<OpenToolset> {
  return openEpisodeTools(toolset, {
    seed: toolset.determinism === "none" ? null : seed,
    task: { id: "train/0", public: {} },
    ...defined({ files }),
    signal,
  });
}

/** Opens an episode, uses it and closes it. */
export async function withEpisode<T>(
  subject: ToolSubject,
  use: (opened: OpenToolset) => Promise<T>,
  seed?: number,
): Promise<T> {
  const opened = await openEpisode(subject, seed === undefined ? {} : { seed });
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** Calls a tool of an episode. */
export function call(
  { tools }: OpenToolset,
  { tool: name, args }: ToolCallExample,
  signal: AbortSignal = never,
): Promise<ToolResult> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined)
    throw new Defect(
      "EXAMPLES_INVALID",
      `There is no tool "${name}"; there are ${tools.map((each) => each.name).join(", ") || "none"}.`,
    );
  return tool.call(args, { signal });
}

/** Makes every sample call, in order. Fails for a result with `isError`. */
export async function callAll(subject: ToolSubject, opened: OpenToolset): Promise<string> {
  const results: ToolResult[] = [];
  for (const sample of subject.calls) {
    const result = await call(opened, sample);
    if (result.isError)
      throw new Defect("TOOL_CALL_FAILED", `The call ${serialise(sample)} failed: ${textOf(result)}`, {
        about: sample.tool,
      });
    results.push(result);
  }
  return serialise(results);
}

export function textOf({ content }: ToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
