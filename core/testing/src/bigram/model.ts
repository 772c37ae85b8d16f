import { createHash } from "node:crypto";
import { MrlmError, type OptimStepOptions, type OptimStepResult } from "@mrlm/spec";
import type { CreateModelOptions, ModelInfo, PublishResult } from "@mrlm/spec/host";
import { BigramAdamW } from "./adamw.ts";
import { type BigramParameters, copyParameters, zerosLike } from "./parameters.ts";

/** Model of a BigramEngine: weights, accumulated gradients, optimizer state, and published weights for the sampler. */
export class BigramModel {
  readonly options: CreateModelOptions;
  readonly config: Readonly<Record<string, unknown>>;
  readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
  readonly parameters: BigramParameters;
  readonly gradients: BigramParameters;
  readonly optimizer: BigramAdamW;
  /** Published weights, which the sampler uses. */
  published: BigramParameters;
  version = 0;

  constructor(
    options: CreateModelOptions,
    parameters: BigramParameters,
    config: Readonly<Record<string, unknown>>,
    tokenizerFiles: Readonly<Record<string, Uint8Array>>,
  ) {
    this.options = options;
    this.config = config;
    this.tokenizerFiles = tokenizerFiles;
    this.parameters = parameters;
    this.gradients = zerosLike(parameters);
    this.optimizer = new BigramAdamW(parameters);
    this.published = copyParameters(parameters);
  }

  get maxPositions(): number {
    const longest = this.config["max_position_embeddings"];
    if (longest === 0) return Number.POSITIVE_INFINITY;
    return typeof longest === "number" ? longest : 4096;
  }

  get info(): ModelInfo {
    const { vocabSize } = this.parameters;
    const { model, role, trainable, valueHead = false } = this.options;
    const parameters = vocabSize * vocabSize + (valueHead ? vocabSize : 0);
    const { eos_token_id: eos, pad_token_id: pad } = this.config;
    return {
      model,
      role,
      architecture: "bigram",
      parameters,
      trainableParameters: trainable ? parameters : 0,
      vocabSize,
      maxPositions: this.maxPositions,
      eosTokenIds: (Array.isArray(eos) ? eos : [eos]).filter((id) => typeof id === "number"),
      padTokenId: typeof pad === "number" ? pad : null,
      dtype: "float64",
      step: this.optimizer.step,
      version: this.version,
      hasValueHead: valueHead,
      config: this.config,
    };
  }

  optimStep(options: OptimStepOptions): OptimStepResult {
    this.assertTrainable();
    const started = performance.now();
    const { logits, values } = this.gradients;
    const squares = (sum: number, gradient: number): number => sum + gradient * gradient;
    const gradNorm = Math.sqrt(values.reduce(squares, logits.reduce(squares, 0)));
    const applied = Number.isFinite(gradNorm);
    const limit = options.maxGradNorm ?? 0;
    if (applied)
      this.optimizer.apply(
        this.parameters,
        this.gradients,
        limit > 0 && gradNorm > limit ? limit / gradNorm : 1,
        options,
      );
    logits.fill(0);
    values.fill(0);
    const seconds = (performance.now() - started) / 1000;
    const { step } = this.optimizer;
    return { applied, gradNorm, step, seconds, ...(!applied && { skippedReason: `the gradient norm is ${gradNorm}` }) };
  }

  average({ options, parameters }: BigramModel, decay: number): void {
    const refuse = (reason: string): never => {
      throw new MrlmError("OPTIONS_INVALID", `The model "${this.options.model}" cannot be averaged: ${reason}.`);
    };
    if (!(decay >= 0 && decay < 1)) refuse(`the decay is ${decay}`);
    if (this.options.trainable) refuse("it is trained");
    if (this.parameters.vocabSize !== parameters.vocabSize) refuse(`it has not the shape of "${options.model}"`);
    const { logits } = this.parameters;
    for (const [i, value] of parameters.logits.entries())
      logits[i] = (logits[i] as number) + (1 - decay) * (value - (logits[i] as number));
  }

  publish(): PublishResult {
    const started = performance.now();
    this.published = copyParameters(this.parameters);
    this.version++;
    return { version: this.version, checksum: this.checksum(), seconds: (performance.now() - started) / 1000 };
  }

  /** Returns a model with the published weights, which later publications leave as they are. */
  publishedCopy(): BigramModel {
    const copy = new BigramModel(
      { ...this.options, trainable: false },
      copyParameters(this.published),
      this.config,
      this.tokenizerFiles,
    );
    copy.version = this.version;
    return copy;
  }

  /** Returns the SHA-256 of the published weights. */
  checksum(): string {
    const { logits, values } = this.published;
    return createHash("sha256").update(bytes(logits)).update(bytes(values)).digest("hex");
  }

  assertTrainable(): void {
    if (!this.options.trainable) throw new MrlmError("NOT_TRAINABLE", `Model "${this.options.model}" is frozen.`);
  }

  /** Returns all arrays of the state in a fixed order; checkpoints read and overwrite them in place. */
  get arrays(): readonly Float64Array[] {
    const { parameters, published, gradients, optimizer } = this;
    return [
      ...[parameters, published, gradients].flatMap(({ logits, values }) => [logits, values]),
      ...optimizer.arrays,
    ];
  }
}

function bytes(numbers: Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
