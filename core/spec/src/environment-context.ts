import type { JsonObject } from "./json.ts";
import type { Judge } from "./judge.ts";
import type { Logger } from "./logger.ts";
import type { RandomStream } from "./random.ts";
import type { Sandbox } from "./sandbox.ts";
import type { Scorer } from "./scorer.ts";
import type { TaskSource } from "./task.ts";
import type { Tool } from "./tool.ts";

/** What the host hands to an environment: what its definition requires, and what everyone gets. */
export interface EnvironmentContext<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly logger: Logger;
  /** The tasks under the session's options; rejects with TASK_NOT_FOUND when the definition has none. */
  readonly tasks: TaskSource<Public, Private>;
  /** A stream named after its purpose; the same name and seed give the same numbers. */
  random(name: string, seed: number): RandomStream;
  /** Each of these throws REQUIREMENT_UNDECLARED for a name that the definition does not require. */
  scorer(id: string): Scorer;
  judge(id: string): Judge;
  sandbox(language: string): Sandbox;
  tool(id: string): Tool;
  /**
   * The absolute path of a file that an option names. Relative paths start where the host says, and a host that serves others opens only
   * files below that folder: DATA_FORBIDDEN for the rest. A run that is resumed compares the contents of the files that `tasks` opened.
   */
  dataPath(path: string): string;
}
