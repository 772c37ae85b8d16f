import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Demonstration } from "./demonstration.ts";
import type { Determinism } from "./determinism.ts";
import type { EnvironmentContext } from "./environment-context.ts";
import type { SimulatedEnvironment } from "./environment.ts";
import type { Fixture } from "./fixture.ts";
import type { RoleId, TaskId, VersionedId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Policy } from "./policy.ts";
import type { TaskSource } from "./task.ts";

/** Kind and id of a service: `scorer:math@2`, `sandbox:python`, `judge:rules@1`, `tool:calculator@1`, `workspace:linux`. */
export type ServiceId = `${"scorer" | "sandbox" | "judge" | "tool" | "workspace"}:${string}`;

/** Service that an environment needs, and the place that causes the need. */
export interface Requirement {
  readonly id: ServiceId;
  /** Place that messages name, for example `problems.jsonl:12`. */
  readonly asker: string;
}

export interface Role {
  /** One sentence for lists. */
  readonly description?: string;
  /** Whether an episode can have several agents in this role: `role#1`, `role#2`, ... An agent exists once an observation, a reward or an end names it. */
  readonly many?: boolean;
}

/**
 * Creates a scripted policy for one agent of one episode. Its choices follow from its observations and the seed alone.
 * @param options the player's options; throws OPTIONS_INVALID for options that it does not take
 */
export type ScriptedPolicy = (context: EnvironmentContext, options: JsonObject, seed: number) => Policy;

/** Definition of an environment in a plugin. The types of its tasks follow from `tasks`. */
export interface EnvironmentDefinition<
  Options = unknown,
  Public extends JsonObject = JsonObject,
  Private extends JsonObject = JsonObject,
> {
  readonly id: VersionedId;
  /** One sentence for lists. */
  readonly description: string;
  /** A function if it depends on the options: a live web page or a model as judge is at most `replayable`. */
  readonly determinism: Determinism | ((options: Options) => Determinism);
  /** Whether environments have `snapshot` and `restore`; default false. Training then plays branches from states in place of repeated actions, where the environment is in its process. */
  readonly snapshots?: boolean;
  /** Roles by id; default: {@link SINGLE_AGENT}. A function if they depend on the options. */
  readonly roles?: Readonly<Record<RoleId, Role>> | ((options: Options) => Readonly<Record<RoleId, Role>>);
  /** Scripted policies by name, for example `random` and `optimal`: players that need no model. */
  readonly scriptedPolicies?: Readonly<Record<string, ScriptedPolicy>>;
  /** Schema that validates the options of a session; any Standard Schema. */
  readonly options?: StandardSchemaV1<unknown, Options>;
  /** The schema of `options` as JSON Schema, for documentation and other languages. `defineEnvironment` of `@mrlm/kit` derives it from `options`. */
  readonly optionsJsonSchema?: JsonObject;
  /** Names of the components of a reward. */
  readonly rewardComponents?: readonly string[];
  /** Smallest and largest sum of the rewards that one agent can earn in an episode; default `[0, 1]`. A function if it depends on the options. */
  readonly rewardRange?: readonly [number, number] | ((options: Options) => readonly [number, number]);
  /** Warnings of `mrlm check` that stay, by their code, each with the reason. */
  readonly acknowledged?: Readonly<Partial<Record<string, string>>>;
  /**
   * Services that `create` needs from the host. A function if they depend on
   * the options, or on a data file that the options name; the host calls it before `create`. The manifest of the plugin lists the services of all options.
   */
  readonly requires?:
    | readonly ServiceId[]
    | ((context: EnvironmentContext, options: Options) => readonly Requirement[] | Promise<readonly Requirement[]>);
  /** Number of turns after which the host truncates an episode. */
  readonly maxTurns?: number;
  /** Deadlines in milliseconds by phase; the host has defaults. */
  readonly deadlines?: {
    readonly setupMs?: number;
    readonly stepMs?: number;
    readonly scoreMs?: number;
    readonly closeMs?: number;
  };
  /** Returns the tasks under these options. All sessions with the same options use one source. */
  tasks?(
    context: EnvironmentContext,
    options: Options,
  ): TaskSource<Public, Private> | Promise<TaskSource<Public, Private>>;
  /** Creates an environment for one session. `context.tasks` is the source that `tasks` returned. */
  create(
    context: EnvironmentContext<Public, Private>,
    options: Options,
  ): SimulatedEnvironment | Promise<SimulatedEnvironment>;
  /** Returns a worked solution of a task of the training split. */
  demonstrate?(context: EnvironmentContext<Public, Private>, options: Options, task: TaskId): Promise<Demonstration>;
  /** Episodes with a known outcome; the contract suite of `@mrlm/testing` requires each kind. */
  readonly fixtures?: readonly Fixture<Public, Private>[];
}
