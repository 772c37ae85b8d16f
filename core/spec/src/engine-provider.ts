import type { JsonObject } from "./json.ts";

/** A running engine process. */
export interface EngineProcess {
  /** `host:port` of its gRPC service. */
  readonly address: string;
  /** Secret of this process. Every call must carry it as `authorization: Bearer TOKEN`. */
  readonly token: string;
  readonly pid: number;
  readonly instanceId: string;
  readonly device: string;
  /** Settles when the process ends, asked or not; `cause` tells of an end that nobody asked for. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null; readonly cause?: Error }>;
  stop(): Promise<void>;
}

/** Where an engine's environment is. */
export interface EngineInstallation {
  readonly directory: string;
  readonly executable: string;
  readonly versions: Readonly<Record<string, string>>;
  /** False when everything was already there. */
  readonly changed: boolean;
}

/** Several processes (ranks) for one engine, as torchrun counts them. */
export interface DistributedOptions {
  /** Each rank holds all of a model (`ddp`), or a part (`fsdp`). */
  readonly strategy: "ddp" | "fsdp";
  readonly processesPerNode: number;
  readonly nodes: number;
  /** Address and port of this machine as the others reach it; needed for more than one. */
  readonly masterAddress?: string;
  readonly masterPort?: number;
  /** Seconds that machines wait for each other before they start. */
  readonly joinSeconds?: number;
}

/** The ranks of an engine that another machine than the first runs. */
export interface JoinedRanks {
  /** Settles when they have ended: with the run, because they were stopped, or with `cause`. */
  readonly exited: Promise<{ readonly cause?: Error }>;
  /** Leaves the run, which ends it. */
  stop(): Promise<void>;
}

/** Installs and starts an engine on this machine. */
export interface EngineProvider {
  setup(options: {
    readonly progress: (line: string) => void;
    readonly extras?: readonly string[];
    readonly options?: JsonObject;
  }): Promise<EngineInstallation>;
  /** What is installed, without changing anything; `undefined` when setup has not run. */
  locate(): Promise<EngineInstallation | undefined>;
  launch(options: {
    readonly device?: "auto" | "cpu" | "cuda";
    readonly mode?: "auto" | "deterministic" | "throughput";
    /** Of each lane. */
    readonly threads?: number;
    /** Parts of a micro-batch that are computed side by side on a CPU; default 1. */
    readonly lanes?: number;
    readonly seed?: number;
    /** Omitted: one process. */
    readonly distributed?: DistributedOptions;
    /** Directory for its log. */
    readonly logDirectory?: string;
    /** Told what is waited for. */
    readonly notice?: (line: string) => void;
    readonly signal?: AbortSignal;
  }): Promise<EngineProcess>;
  /** Joins the engine that another machine launches with the same `distributed`, and runs this machine's ranks for as long as it lives. */
  join(options: {
    readonly distributed: DistributedOptions;
    /** Number of this machine, from 1. */
    readonly nodeRank: number;
    /** Told what is waited for. */
    readonly notice?: (line: string) => void;
    /** Told when all machines are there and the ranks start. */
    readonly started?: () => void;
    /** The ranks' log. */
    readonly log?: (line: string) => void;
  }): Promise<JoinedRanks>;
}
