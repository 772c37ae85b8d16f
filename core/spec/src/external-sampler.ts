import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { InFlight, Sampler, SamplerHost } from "./engine.ts";
import type { JsonObject } from "./json.ts";
import type { ModelId } from "./model.ts";

/** Abilities of a sampler that are not those of every other. */
export interface SamplerCapabilities {
  /** Whether equal submissions give equal bits. */
  readonly deterministic: boolean;
  /** Distribution of the log-probabilities of a truncated draw: the one that tokens are drawn from, or the softmax over the whole vocabulary. */
  readonly logprobs: "drawn" | "full";
  /** Sources from which weights are read: the trainer's stream, or a directory that `Trainer.writeWeights` wrote. */
  readonly updates: readonly ("trainer" | "directory")[];
  /** Rules that `update` accepts. */
  readonly inFlight: readonly InFlight[];
  /** `checksum`: over the sampler's weights, read back. `probe`: log-probabilities of a sampled sequence, compared with the trainer's. */
  readonly proof: "checksum" | "probe";
  /** Whether the sampler has {@link ExternalSampler.sleep}; default false. */
  readonly sleeps?: boolean;
}

/** Description of a sampler in another process. */
export interface SamplerInfo {
  /** Identifies the process: another value means that its weights are lost. */
  readonly instanceId: string;
  readonly device: string;
  readonly deviceName: string;
  /** Versions of the software that computes, by name: `torch`, `vllm`. */
  readonly software: Readonly<Record<string, string>>;
  /** Compute threads; 0 where the number is unknown. */
  readonly threads: number;
  readonly models: readonly {
    readonly model: ModelId;
    /** Version of the weights, counted by the trainer. */
    readonly version: number;
    /** The trainer's checksum of these weights. */
    readonly checksum: string;
  }[];
  readonly capabilities: SamplerCapabilities;
  /** Tokens of the sequences that run now, with their prompts. */
  readonly runningTokens: number;
  /** Wall-clock seconds of computation since the start of the process. */
  readonly computeSeconds: number;
}

/** Place from which a sampler reads weights: the engine that published them, or a directory on the sampler's machine. */
export type WeightsSource =
  | { readonly kind: "trainer"; readonly address: string; readonly token?: string }
  | { readonly kind: "directory"; readonly directory: string };

/** Published weights for a sampler. */
export interface WeightsUpdate {
  readonly model: ModelId;
  /** Version and checksum that `Trainer.publish` returned. */
  readonly version: number;
  readonly checksum: string;
  readonly source: WeightsSource;
  readonly inFlight: InFlight;
}

/** Proof of an update. */
export interface UpdateResult {
  readonly version: number;
  /** Checksum over the sampler's weights; empty with proof by probe. */
  readonly checksum: string;
  /** Largest difference in nats between the sampler's and the trainer's log-probabilities; with proof by probe only. */
  readonly probeDifference?: number;
  /** Wall-clock seconds. */
  readonly seconds: number;
}

/** Sampler that is not part of the trainer. It gets its weights by `update`, and never counts their versions itself. */
export interface ExternalSampler extends Pick<SamplerHost, "readTokenizer" | "close"> {
  describe(): Promise<SamplerInfo>;
  /** Opens a stream of sequences. The caller must close it. Rejects with MODEL_UNKNOWN before the first update. */
  sampler(model: ModelId): Promise<Sampler>;
  /** Reads weights and proves them. After a rejection the earlier weights stay, or the sampler rejects every sequence. */
  update(update: WeightsUpdate): Promise<UpdateResult>;
  /** Releases the memory of the device until the next sequence or update. A sampler that draws sequences keeps it. */
  sleep?(): Promise<void>;
}

/** Input of a sampler plugin when its server is opened. */
export interface SamplerOpening<Options> {
  /** Address of the server, as `--url` names it. */
  readonly url: string;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/**
 * Server of another project that samples sequences: `sampler:NAME@N`. Its sidecar `mrlm sample --plugin NAME` serves it as a sampler: it writes the weights of each
 * version into a directory, calls `update`, and proves it by a probe before any other request.
 */
export interface SamplerSource<Options = JsonObject> {
  /** Schema that validates the options of the sampler; any Standard Schema. Without one it has no options. */
  readonly options?: StandardSchemaV1<unknown, Options>;
  /** Connects to a running server. Rejects with SAMPLER_UNAVAILABLE where nothing answers in time. */
  open(opening: SamplerOpening<Options>): Promise<ExternalSampler>;
}
