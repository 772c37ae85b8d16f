import type { JsonObject } from "./json.ts";

/** Running engine process on this machine. */
export interface EngineProcess {
  /** `host:port` of its gRPC service. */
  readonly address: string;
  /** Secret of this process. Every call must send it as `authorization: Bearer TOKEN`. */
  readonly token: string;
  readonly pid: number;
  readonly instanceId: string;
  readonly device: string;
  /** Resolves when the process has ended. `cause` is set unless `stop` ended it. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null; readonly cause?: Error }>;
  stop(): Promise<void>;
}

/** Virtual environment in which an engine is installed. */
export interface EngineInstallation {
  readonly directory: string;
  readonly executable: string;
  readonly versions: Readonly<Record<string, string>>;
  /** False when `setup` had nothing to install. */
  readonly changed: boolean;
}

/** Ranks of one engine: processes and machines, counted as torchrun does. */
export interface DistributedOptions {
  /** `ddp`: each rank holds the whole model. `fsdp`: each rank holds a shard. */
  readonly strategy: "ddp" | "fsdp";
  /** Mesh of the ranks; default: all compute different units. */
  readonly parallel?: { readonly data: number; readonly context: number; readonly tensor: number };
  readonly processesPerNode: number;
  readonly nodes: number;
  /** Address and port of machine 0, as the other machines reach it; required if `nodes` > 1. */
  readonly masterAddress?: string;
  readonly masterPort?: number;
  /** Seconds to wait for all machines before the start. */
  readonly joinSeconds?: number;
}

/** Ranks of an engine on a machine other than machine 0. */
export interface JoinedRanks {
  /** Resolves when the ranks have ended: with the run, by `stop`, or with `cause` (JOIN_REFUSED, JOIN_TIMEOUT, ENGINE_EXITED). */
  readonly exited: Promise<{ readonly cause?: Error }>;
  /** Ends the ranks of this machine, and with them the run. */
  stop(): Promise<void>;
}

/** Complete model on this machine, in the form of the Hugging Face Hub. */
export interface StoredModel {
  /** `hub:ORG/NAME`, or the name of a GGUF file without its ending. */
  readonly name: string;
  /** Branch, tag or commit that was asked for; empty for a GGUF file. */
  readonly revision: string;
  /** Commit of the repository, or SHA-256 of the GGUF file and of the chat template beside it. */
  readonly commit: string;
  /** As the repository or the file states it, or `unknown`. */
  readonly licence: string;
  readonly directory: string;
  readonly bytes: number;
}

/** Installs and starts an engine on this machine. */
export interface EngineProvider {
  /** Installs the engine, or returns at once if it is installed. Rejects with PYTHON_NOT_FOUND, PYTHON_VERSION, SETUP_DOWNLOAD_FAILED or SETUP_FAILED. */
  setup(options: {
    readonly progress: (line: string) => void;
    readonly extras?: readonly string[];
    readonly options?: JsonObject;
  }): Promise<EngineInstallation>;
  /** Returns the installation without a change to it; `undefined` before `setup`. */
  locate(): Promise<EngineInstallation | undefined>;
  /** Models that the engine has brought to this machine. */
  readonly models: {
    /**
     * Fetches `hub:ORG/NAME[@REVISION]`, or converts a GGUF file, unless the machine has the model. `progress` receives bytes, and the estimated seconds
     * that are left. Without `weights` a model of the hub is its configuration and tokenizer alone, and does not count as stored. Rejects with ENGINE_NOT_SET_UP, MODEL_DOWNLOAD_FAILED, MODEL_DIRECTORY_MISSING or MODEL_DIRECTORY_INVALID.
     */
    get(
      name: string,
      report: {
        readonly notice: (line: string) => void;
        readonly progress: (sofar: { readonly done: number; readonly total: number; readonly seconds: number }) => void;
        /** Default: true. */
        readonly weights?: boolean;
      },
    ): Promise<StoredModel>;
    /** Returns the complete models, the newest first. */
    list(): Promise<readonly StoredModel[]>;
    /** Deletes the models of a name, with `@REVISION` or without, or of a directory. Rejects with MODEL_DIRECTORY_MISSING. */
    remove(name: string): Promise<readonly StoredModel[]>;
  };
  /** Starts an engine and waits until it answers. Rejects with ENGINE_NOT_SET_UP, ENGINE_START_FAILED or CANCELLED. */
  launch(options: {
    readonly device?: "auto" | "cpu" | "cuda";
    readonly mode?: "auto" | "deterministic" | "throughput";
    /** Compute threads of each lane. */
    readonly threads?: number;
    /** Parts of a micro-batch that a CPU computes in parallel; default 1. */
    readonly lanes?: number;
    readonly seed?: number;
    /** Whether the process only samples, with weights of a trainer. */
    readonly samplesOnly?: boolean;
    /** Index of the CUDA device; default 0. */
    readonly gpu?: number;
    /** Default: one process. */
    readonly distributed?: DistributedOptions;
    /** Directory of the log file. */
    readonly logDirectory?: string;
    /** Receives a line for the user while the launch waits. */
    readonly notice?: (line: string) => void;
    readonly signal?: AbortSignal;
  }): Promise<EngineProcess>;
  /** Joins the engine that machine 0 launches with the same `distributed`, and runs the ranks of this machine until that engine ends. Rejects with ENGINE_NOT_SET_UP. */
  join(options: {
    readonly distributed: DistributedOptions;
    /** Index of this machine, from 1. */
    readonly nodeRank: number;
    /** Receives a line for the user while the machine waits. */
    readonly notice?: (line: string) => void;
    /** Called when all machines have joined and the ranks start. */
    readonly started?: () => void;
    /** Receives each line of the log of the ranks. */
    readonly log?: (line: string) => void;
  }): Promise<JoinedRanks>;
}
