import type { Determinism } from "./determinism.ts";
import type { TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { ImagePart, TextPart } from "./message.ts";
import type { RandomStream } from "./random.ts";
import type { Workspace } from "./workspace.ts";

/** Description of a tool in the prompt of a policy. */
export interface ToolDefinition {
  /** Matches `[A-Za-z0-9_-]{1,64}`. Tools of an MCP server are `SERVER__TOOL`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

/** Result of a tool call: content, or with `isError` content that describes the failure. */
export interface ToolResult {
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError: boolean;
  /** Whether a limit shortened the content. The content states it. */
  readonly truncated?: boolean;
}

export interface ToolCallOptions {
  /** Aborted when the deadline of the step or of the call passes, or the session closes. */
  readonly signal: AbortSignal;
  /** Waits for a free place. The time counts neither against the timeout of the call nor against the deadline of the step. Set by the host. */
  queued?<T>(wait: () => Promise<T>): Promise<T>;
  /** Reports that the call advances: its timeout starts anew, up to the tool's `maxTimeoutMs`. Set by the host. */
  progressed?(): void;
}

/** Function that an environment offers to a policy. */
export interface Tool extends ToolDefinition {
  /** Longest call in milliseconds, without queueing; default 30,000. Later its result has `isError`. */
  readonly timeoutMs?: number;
  /** Longest call in milliseconds where the tool reports progress, without queueing; default `timeoutMs`. */
  readonly maxTimeoutMs?: number;
  /** Limit of the text of a result in UTF-8 bytes; default 65,536. More is cut, and the text states it. */
  readonly outputBytes?: number;
  /**
   * Calls the tool. A failure that concerns the policy (invalid arguments, a missing page) is a result with `isError`. A rejection means that the tool
   * is broken: the reward of the step becomes unscored (TOOL_FAILED).
   */
  call(args: JsonObject, options: ToolCallOptions): Promise<ToolResult>;
}

/** Episode for which a toolset is opened. */
export interface ToolEpisode {
  /** Task with its public part; omitted by an environment without tasks. */
  readonly task?: { readonly id: TaskId; readonly public: JsonObject };
  /** Seed of the episode; `null` in an environment whose determinism is `none`. */
  readonly seed: number | null;
  /** Files of the task, by path relative to the root of the episode's files. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Workspace in which tools with files or commands work, with its own files. Its owner closes it. Default: one of their own. */
  readonly workspace?: Workspace;
  /** Aborted when opening must stop. */
  readonly signal: AbortSignal;
}

/** Input of {@link Toolset.open}. */
export interface ToolsetEpisode extends ToolEpisode {
  /** Returns a stream of random numbers of this toolset. The same name and seed of the episode give the same numbers. */
  random(name: string): RandomStream;
  /** Waits for a free place. The time does not count against the deadline of the setup. Set by the host. */
  queued?<T>(wait: () => Promise<T>): Promise<T>;
}

/** Tools of one episode. */
export interface OpenToolset {
  /** The tools at this moment. A toolset may replace the list between two turns (an MCP server that adds a tool). */
  readonly tools: readonly Tool[];
  /** Releases what the episode used. The host calls it once. */
  close(): Promise<void>;
}

/** Source of the tools of episodes: state, processes and files are those of one episode. */
export interface Toolset {
  /** Tools that every episode has, where they are known without one. The host rejects two tools of one name when it prepares an environment. */
  readonly definitions?: readonly ToolDefinition[];
  /** Guarantee about repeated calls; default `full`. An environment promises at most the least of its toolsets. */
  readonly determinism?: Determinism;
  /** Opens the tools of one episode. A rejection means that they are broken: the episode is unscored (TOOL_FAILED). */
  open(episode: ToolsetEpisode): Promise<OpenToolset>;
  /** Releases what all episodes share. Called once, when the process ends its work. */
  close?(): Promise<void>;
}
