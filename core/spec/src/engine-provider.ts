import type { JsonObject } from "./json.ts";

/** A running engine process. */
export interface EngineProcess {
  /** `host:port` of its gRPC service. */
  readonly address: string;
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
    readonly threads?: number;
    readonly seed?: number;
    /** Omitted: one process. */
    readonly distributed?: DistributedOptions;
    /** Directory for its log. */
    readonly logDirectory?: string;
    readonly signal?: AbortSignal;
  }): Promise<EngineProcess>;
}
