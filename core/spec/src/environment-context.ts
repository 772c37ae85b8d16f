import type { JsonObject } from "./json.ts";
import type { Judge } from "./judge.ts";
import type { Logger } from "./logger.ts";
import type { RandomStream } from "./random.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Scorer } from "./scorer.ts";
import type { TaskSource } from "./task.ts";
import type { Tool, ToolEpisode, Toolset } from "./tool.ts";
import type { Workspaces } from "./workspace.ts";

/** Toolset in the hands of an environment. */
export interface EpisodeTools {
  /**
   * Opens the tools of an episode. Each call of a tool has a timeout and an output limit; arguments are validated. Rejects with TOOL_FAILED where the
   * toolset is broken, and with TOOL_CONFLICT for a name that another open toolset has.
   */
  open(episode: ToolEpisode): Promise<{ readonly tools: readonly Tool[] }>;
}

/** Services that a host passes to an environment: those that its definition requires, and those of every environment. */
export interface EnvironmentContext<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly logger: Logger;
  /** W3C Trace Context of the call under way, `00-TRACE-PARENT-FLAGS`; `undefined` where the caller gave none. */
  readonly trace?: string | undefined;
  /** Tasks under the options of the session. `get` rejects with TASK_NOT_FOUND if the definition has no `tasks`. */
  readonly tasks: TaskSource<Public, Private>;
  /** Returns a stream of random numbers. The same name and seed give the same numbers on every machine. */
  random(name: string, seed: number): RandomStream;
  /** Like `judge`, `sandbox`, `tools` and `workspaces`, throws REQUIREMENT_UNDECLARED for an id that the definition does not require. */
  scorer(id: string): Scorer;
  judge(id: string): Judge;
  sandbox(language: string): Sandbox;
  /**
   * Returns the tools of one plugin, or of the environment's own toolset. An environment opens them in `reset`. The host closes them with the episode, however
   * it ends.
   */
  tools(source: string | Toolset): EpisodeTools;
  /** Returns the provider of a platform. The host closes the workspaces that it opened with the episode, however it ends. */
  workspaces(platform: string): Pick<Workspaces, "limits" | "sockets" | "open">;
  /**
   * Returns the absolute path of a file that an option names. A relative path starts at the folder of the host: that of the configuration, or the data folder
   * of a server, which throws DATA_FORBIDDEN for files outside of it. A resumed run compares the contents of the files that `tasks` opened.
   */
  dataPath(path: string): string;
}
