import assert from "node:assert/strict";
import { openEpisodeTools } from "@mrlm/runtime";
import type { JsonObject, OpenToolset, ToolEpisode, ToolResult, Toolset } from "@mrlm/spec";
import { serialise } from "../contract/serialise.ts";
import { never } from "../contract/play.ts";

/** Call of a tool in a test. */
export interface SampleCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Toolset under test. */
export interface ToolsetSubject {
  readonly toolset: Toolset;
  readonly directory: string;
  readonly calls: readonly SampleCall[];
  readonly files: ToolEpisode["files"] | undefined;
  readonly state: { readonly change: SampleCall; readonly read: SampleCall } | undefined;
  readonly slow: SampleCall | undefined;
  readonly episodes: number;
  /** Time in milliseconds after which what an episode used must be released. */
  readonly releaseMs: number;
}

/** Test that every toolset must pass. */
export interface ToolsetCheck {
  readonly name: string;
  /** Whether the check applies to tools with state only. */
  readonly needsState?: boolean;
  run(subject: ToolsetSubject): Promise<void>;
}

/** Opens an episode as a host does. */
export function openEpisode(
  { toolset, files }: ToolsetSubject,
  { seed = 1, signal = never }: { readonly seed?: number; readonly signal?: AbortSignal } = {},
): Promise<OpenToolset> {
  return openEpisodeTools(toolset, {
    seed: toolset.determinism === "none" ? null : seed,
    task: { id: "train/0", public: {} },
    ...(files === undefined ? {} : { files }),
    signal,
  });
}

/** Opens an episode, uses it and closes it. */
export async function withEpisode<T>(
  subject: ToolsetSubject,
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
  { tool: name, args }: SampleCall,
  signal: AbortSignal = never,
): Promise<ToolResult> {
  const tool = tools.find((each) => each.name === name);
  assert(tool, `There is no tool "${name}"; there are ${tools.map((each) => each.name).join(", ") || "none"}.`);
  return tool.call(args, { signal });
}

/** Makes every sample call, in order. Fails for a result with `isError`. */
export async function callAll(subject: ToolsetSubject, opened: OpenToolset): Promise<string> {
  const results: ToolResult[] = [];
  for (const sample of subject.calls) {
    const result = await call(opened, sample);
    assert(!result.isError, `The call ${serialise(sample)} failed: ${textOf(result)}`);
    results.push(result);
  }
  return serialise(results);
}

/** Returns the text of a result. */
export function textOf({ content }: ToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** Requires that work settles within 5 s, and returns whether it was fulfilled. */
export async function settles(what: string, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => false,
  );
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), 5_000);
  try {
    const outcome = await Promise.race([settled, late]);
    assert(outcome !== undefined, `${what} did not end within 5 s.`);
    return outcome;
  } finally {
    clearTimeout(timer);
  }
}
