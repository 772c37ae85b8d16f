import type { ToolFormatName } from "@mrlm/kit/renderer";
import type { InFlight, JsonObject, ModelId, PartKind, PlayerRef, PolicyId, RewardSharing, RoleId } from "@mrlm/spec";
import type { PlayMode } from "../play/learner.ts";
import type { PluginOptions } from "../plugins/discover-plugins.ts";

/** Tokenizer with one token per character. */
export interface CharacterTokenizer {
  readonly characters: { readonly alphabet?: string; readonly tags?: readonly string[] };
}

/** Sampling parameters of a turn. */
export interface ResolvedSampling {
  readonly temperature: number;
  readonly max_tokens: number;
  readonly min_tokens?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly ignore_stop?: boolean;
}

/** Trained model in a resolved configuration. */
export interface ResolvedModel {
  /** Exactly one of `path` and `random` is set. */
  readonly path?: string;
  readonly random?: {
    /** Inline, or the path of a config.json. */
    readonly config: string | JsonObject;
    readonly tokenizer: string | CharacterTokenizer;
    readonly seed: number;
  };
  readonly dtype: "auto" | "float32" | "bfloat16" | "float16";
  readonly lora?: {
    readonly path?: string;
    readonly rank?: number;
    readonly alpha?: number;
    readonly dropout?: number;
    readonly target_modules?: readonly string[];
  };
  readonly tool_format?: ToolFormatName;
  readonly float32_head?: boolean;
  readonly gradient_checkpointing?: boolean;
  readonly micro_batch_tokens?: number;
  /** Keys that replace those of the run's and of a stage's `sampling` for this policy. */
  readonly sampling?: Partial<ResolvedSampling>;
}

/** Reference model of a learner. At most one of `reset_every` and `ema` is set. */
export interface ReferenceModel {
  readonly path?: string;
  readonly reset_every?: number;
  readonly ema?: number;
}

/** Algorithm that trains one policy in a stage. */
export interface ResolvedLearner {
  readonly algorithm: string;
  /** Keys that replace those of the stage and of the policy. */
  readonly sampling?: Partial<ResolvedSampling>;
  readonly reference_model?: ReferenceModel;
  readonly options: JsonObject;
}

/** Stage in a resolved configuration. */
export interface ResolvedStage {
  readonly name: string;
  /** Sampling of the policies that have none of their own. */
  readonly sampling: ResolvedSampling;
  /** By policy, in the order in which they learn; at least one. */
  readonly learners: Readonly<Record<PolicyId, ResolvedLearner>>;
  /** Condition under which the stage ends before its last iteration. */
  readonly until?: { readonly accuracy: number; readonly every: number; readonly tasks: number };
}

/** Environment with its options in a resolved configuration. */
export interface ResolvedEnvironment {
  readonly id: string;
  readonly options: JsonObject;
  readonly max_turns?: number;
  /** Player by role. A role that is left out is played by the policy. */
  readonly players?: Readonly<Record<RoleId, PlayerRef>>;
  /** Default `fixed`. */
  readonly sides?: "fixed" | "shuffle";
  /** Default: each agent learns from its own total. */
  readonly reward_sharing?: RewardSharing;
}

/** Further engine of a run. */
export interface ResolvedEngine {
  readonly address?: string;
  readonly token_file?: string;
  readonly device: "auto" | "cpu" | "cuda";
  readonly gpu?: number;
  readonly samplers: number;
  readonly threads?: number;
  /** Ids of the models that are on it; at least one. */
  readonly models: readonly ModelId[];
}

/**
 * Configuration with every default filled in and every path absolute. Its keys are those of the YAML form, so loading it from a file gives the same
 * configuration.
 */
export interface ResolvedConfig {
  readonly name: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly seed: number;
  /** Trained models by name; at least one. */
  readonly policies: Readonly<Record<PolicyId, ResolvedModel>>;
  readonly environments: readonly (ResolvedEnvironment & { readonly weight: number })[];
  readonly stages: readonly ResolvedStage[];
  readonly sampling: ResolvedSampling & { readonly max_sequence_tokens?: number; readonly concurrency: number };
  readonly play: PlayMode & {
    readonly cohorts: number;
    /** `async`: rule for sequences that are sampled while weights change. Default `recompute`. */
    readonly in_flight?: InFlight;
    /** Largest `offpolicy/kl` of a step, in nats a token. */
    readonly max_kl?: number;
  };
  readonly eval: {
    readonly environments: readonly ResolvedEnvironment[];
    readonly split: string;
    readonly tasks: number;
    readonly samples: number;
    readonly every: number;
    /** Whether the run continues if no episode could be scored at its start. */
    readonly may_fail: boolean;
  };
  readonly engine: {
    readonly address?: string;
    readonly token_file?: string;
    readonly provider: string;
    readonly device: "auto" | "cpu" | "cuda";
    readonly mode: "auto" | "deterministic" | "throughput";
    readonly check_memory: boolean;
    /** Processes that sample beside the engine. */
    readonly samplers: number;
    /** Longest wait of a sequence for a sampler where none serves. */
    readonly sampler_wait_seconds: number;
    readonly gpu?: number;
    readonly threads?: number;
  };
  /** Further engines by name. Keys that an entry does not have are those of `engine`. */
  readonly engines?: Readonly<Record<string, ResolvedEngine>>;
  readonly server: {
    readonly address?: string | readonly string[];
    readonly token_file?: string;
    readonly tls?: {
      readonly ca?: string;
      readonly cert?: string;
      readonly key?: string;
      readonly server_name?: string;
    };
    readonly spawn: boolean;
    readonly reconnect_seconds: number;
    readonly max_sessions?: number;
    readonly max_sessions_by_environment?: Readonly<Record<string, number>>;
    readonly max_sessions_per_client?: number;
    readonly max_queue?: number;
    readonly queue_seconds?: number;
    readonly lease_seconds?: number;
    readonly drain_seconds?: number;
  };
  readonly checkpoint: { readonly every: number; readonly keep: number };
  readonly store: { readonly url?: string; readonly keep_tokens: number };
  readonly output: { readonly directory: string; readonly trajectories: boolean };
  readonly trackers: readonly { readonly name: string; readonly options: JsonObject }[];
  readonly plugins: Readonly<Record<string, PluginOptions>>;
  readonly distributed: {
    readonly enabled: boolean;
    readonly strategy: "ddp" | "fsdp";
    readonly nproc_per_node: number;
    readonly nnodes: number;
    readonly join_seconds: number;
    readonly master_addr?: string;
    readonly master_port?: number;
  };
  /** Launcher of the parts: `use` and its options. */
  readonly launcher?: JsonObject & { readonly use: string };
  readonly parts?: readonly ResolvedPart[];
  readonly base_directory: string;
}

/** Processes that `mrlm launch` starts beside the training process. */
export interface ResolvedPart {
  readonly kind: PartKind;
  readonly count?: number;
  readonly args: readonly string[];
  /** Instead of the command of the kind. */
  readonly command?: readonly string[];
  readonly cpus?: number;
  readonly gpus?: number;
  readonly memory_mb?: number;
  readonly env: Readonly<Record<string, string>>;
  /** Times that processes of this part are started again after a fault. */
  readonly restarts: number;
}
