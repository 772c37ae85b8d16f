import type { Demonstration } from "./demonstration.ts";
import type { Determinism } from "./determinism.ts";
import type { SimulatedEnvironment } from "./environment.ts";
import type { AgentId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";

/** What a host says of an environment that it offers. */
export interface EnvironmentDescription {
  readonly id: string;
  readonly description: string;
  readonly determinism: Determinism;
  readonly agents: readonly AgentId[];
  readonly optionsJsonSchema?: JsonObject;
  /** Tasks by split under the options asked about, or the defaults. */
  readonly splits: Readonly<Record<string, number>>;
  /** Those whose tasks are meant to be taken in the order of their index. */
  readonly orderedSplits: readonly string[];
  /** 0: no limit. */
  readonly maxTurns: number;
  readonly hasDemonstrations: boolean;
  readonly rewardComponents: readonly string[];
  /** SHA-256, in hexadecimal, of each file that its tasks were made from, by the name that the options give it (`EnvironmentContext.dataPath`). */
  readonly dataFiles?: Readonly<Record<string, string>>;
}

/** An environment with its options. */
export interface EnvironmentRef {
  /** `math@1`, or `math` for the newest on offer. */
  readonly id: string;
  readonly options?: JsonObject;
}

/**
 * Offers environments: those of this process, or a server's. The sessions that it opens are guarded: order, deadlines and limits
 * are enforced and what an author returns is validated.
 */
export interface EnvironmentHost {
  /** Every environment on offer. */
  list(): Promise<readonly EnvironmentDescription[]>;
  /** One, under these options. Rejects with ENVIRONMENT_NOT_FOUND (and the nearest name) or OPTIONS_INVALID. */
  describe(environment: EnvironmentRef): Promise<EnvironmentDescription>;
  /** A session of its own. Close it. */
  open(environment: EnvironmentRef): Promise<SimulatedEnvironment & { close(): Promise<void> }>;
  /** Worked solutions of training tasks. Rejects with DEMONSTRATION_REFUSED for other splits, and with the signal's reason when it is aborted. */
  demonstrate(
    environment: EnvironmentRef,
    tasks: readonly TaskId[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Demonstration[]>;
  close(): Promise<void>;
}
