import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Demonstration } from "./demonstration.ts";
import type { Determinism } from "./determinism.ts";
import type { EnvironmentContext } from "./environment-context.ts";
import type { SimulatedEnvironment } from "./environment.ts";
import type { Fixture } from "./fixture.ts";
import type { AgentId, TaskId, VersionedId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { TaskSource } from "./task.ts";

/** Something that an environment needs, and who asks for it. */
export interface Requirement {
  /** `scorer:math@1` */
  readonly id: string;
  /** For messages: `problems.jsonl:12`. */
  readonly asker: string;
}

/** An environment as a plugin offers it. The types of its tasks follow from `tasks`. */
export interface EnvironmentDefinition<
  Options = unknown,
  Public extends JsonObject = JsonObject,
  Private extends JsonObject = JsonObject,
> {
  readonly id: VersionedId;
  /** One sentence. */
  readonly description: string;
  readonly determinism: Determinism;
  /** Defaults to the single agent. */
  readonly agents?: readonly AgentId[];
  /** Validates the options of a session; any Standard Schema. */
  readonly options?: StandardSchemaV1<unknown, Options>;
  /** JSON Schema of the same, for people and other languages. `defineEnvironment` of `@mrlm/kit` derives it from `options`. */
  readonly optionsJsonSchema?: JsonObject;
  /** Names of the reward's components. */
  readonly rewardComponents?: readonly string[];
  /**
   * What `create` needs from the host: `scorer:math@1`, `sandbox:python`, `judge:rules@1`, `tool:calculator@1`. A function where it depends on
   * options or on a data file that they name; it is called before anything is made. The plugin's manifest lists the same, for every option.
   */
  readonly requires?:
    | readonly string[]
    | ((context: EnvironmentContext, options: Options) => readonly Requirement[] | Promise<readonly Requirement[]>);
  /** Turns after which the host truncates an episode. */
  readonly maxTurns?: number;
  /** Deadlines by phase in milliseconds; the host's defaults fill the rest. */
  readonly deadlines?: {
    readonly setupMs?: number;
    readonly stepMs?: number;
    readonly scoreMs?: number;
    readonly closeMs?: number;
  };
  /** The tasks under these options; the host makes one source and shares it among sessions. */
  tasks?(
    context: EnvironmentContext,
    options: Options,
  ): TaskSource<Public, Private> | Promise<TaskSource<Public, Private>>;
  /** A fresh environment for one session. `context.tasks` is what `tasks` returned. */
  create(
    context: EnvironmentContext<Public, Private>,
    options: Options,
  ): SimulatedEnvironment | Promise<SimulatedEnvironment>;
  /** A worked solution of a training task. */
  demonstrate?(context: EnvironmentContext<Public, Private>, options: Options, task: TaskId): Promise<Demonstration>;
  /** Episodes whose outcome is known: gold, nop, cheat, malformed, determinism. */
  readonly fixtures?: readonly Fixture<Public, Private>[];
}
