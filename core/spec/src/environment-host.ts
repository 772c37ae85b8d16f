import type { Demonstration } from "./demonstration.ts";
import type { Determinism } from "./determinism.ts";
import type { Action } from "./action.ts";
import type { ResetOptions, SimulatedEnvironment, StepResult } from "./environment.ts";
import type { Role } from "./environment-definition.ts";
import type { RoleId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Observation } from "./observation.ts";
import type { Policy } from "./policy.ts";

/** Description of an environment that a host offers, under given options. */
export interface EnvironmentDescription {
  readonly id: string;
  readonly description: string;
  readonly determinism: Determinism;
  /** Whether sessions have `snapshot` and `restore`. Those of a server have none. */
  readonly snapshots?: boolean;
  readonly roles: Readonly<Record<RoleId, Role>>;
  readonly optionsJsonSchema?: JsonObject;
  /** Number of tasks by split. */
  readonly splits: Readonly<Record<string, number>>;
  /** Splits whose tasks are to be taken in ascending order of their index. */
  readonly orderedSplits: readonly string[];
  /** Limit of turns in an episode; 0 for none. */
  readonly maxTurns: number;
  /** Set for a server that does not know the finish reason `exhausted`. When the context of one agent is full, the episode then ends for all. */
  readonly lacksExhausted?: boolean;
  readonly hasDemonstrations: boolean;
  readonly rewardComponents: readonly string[];
  /** Smallest and largest sum of the rewards of an agent in an episode under these options; absent where the host does not know it. */
  readonly rewardRange?: readonly [number, number];
  /** SHA-256 (hexadecimal) of each file that the tasks were read from, by the path in the options (`EnvironmentContext.dataPath`). */
  readonly dataFiles?: Readonly<Record<string, string>>;
  /** Package that provides the environment, where the host knows it. */
  readonly providedBy?: EnvironmentPackage;
}

/** Package that provides an environment. */
export interface EnvironmentPackage {
  /** `@mrlm/environment-math`. */
  readonly name: string;
  readonly version: string;
  /** SHA-256 (hexadecimal) of the recorded behaviour of the environment's fixtures; absent where none is recorded. */
  readonly behaviour?: string;
}

/** Reference to an environment under options. */
export interface EnvironmentRef {
  /** `math@2`, or `math` for the newest version that the host offers. */
  readonly id: string;
  readonly options?: JsonObject;
}

/** Scripted policy for one agent of one episode. */
export interface ScriptedPlayer {
  /** Name in `EnvironmentDefinition.scriptedPolicies`. */
  readonly name: string;
  readonly options?: JsonObject;
  readonly seed: number;
}

/** Trace of a call, for {@link EnvironmentSession}. */
export interface TraceOptions {
  /** W3C Trace Context of the caller: `00-TRACE-PARENT-FLAGS` in hexadecimal digits. The environment reads it as `EnvironmentContext.trace`. */
  readonly trace?: string;
}

/** Options of {@link EnvironmentSession.step}. */
export interface StepOptions extends TraceOptions {
  readonly signal: AbortSignal;
  /** Whether the decoder of the wire has checked the form of the action. Default: false; the host checks it then. */
  readonly isDecoded?: boolean;
}

/** Live environment for one client. */
export interface EnvironmentSession extends SimulatedEnvironment {
  reset(options: ResetOptions & TraceOptions): Promise<Observation>;
  step(action: Action, options: StepOptions): Promise<StepResult>;
  /** Description of the environment under the options of this session. */
  readonly description: EnvironmentDescription;
  close(): Promise<void>;
}

/** Options of {@link EnvironmentHost.open}. */
export interface OpenOptions {
  /** Name of the session in reports of the process that hosts it. */
  readonly session?: string;
  /** Session of the same episode that was lost, which the new one restores. A server that several of them ended restores none. */
  readonly restores?: EnvironmentSession;
}

export interface EnvironmentServerState {
  /** `host:port`. */
  readonly address: string;
  /** Whether it answered, and its connection has not been lost since. */
  readonly isConnected: boolean;
}

/**
 * Offers the environments of this process or of a server. Every session is guarded: the host enforces the order of calls, deadlines and limits,
 * and validates the results of the environment.
 */
export interface EnvironmentHost {
  /** Returns every environment that the host offers, under default options. An environment that requires options has no tasks here. */
  list(): Promise<readonly EnvironmentDescription[]>;
  /** Returns the description under these options. Rejects with ENVIRONMENT_NOT_FOUND, which names the nearest id, or OPTIONS_INVALID. */
  describe(environment: EnvironmentRef): Promise<EnvironmentDescription>;
  /** Opens a session, which the caller must close. Rejects as `describe` does. */
  open(environment: EnvironmentRef, options?: OpenOptions): Promise<EnvironmentSession>;
  /** Returns worked solutions in the order of `tasks`. Rejects with DEMONSTRATION_REFUSED for a task outside the training split, and with the reason of `signal` when it is aborted. */
  demonstrate(
    environment: EnvironmentRef,
    tasks: readonly TaskId[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Demonstration[]>;
  /**
   * Creates a scripted policy of the environment. Absent in the client of a server, which sends no code. Rejects with PLAYER_NOT_FOUND, which names the
   * nearest policy, with OPTIONS_INVALID, or as `describe` does.
   */
  scripted?(environment: EnvironmentRef, player: ScriptedPlayer): Promise<Policy>;
  /** Returns the servers of the environments. Absent where they are in this process. */
  servers?(): readonly EnvironmentServerState[];
  close(): Promise<void>;
}
