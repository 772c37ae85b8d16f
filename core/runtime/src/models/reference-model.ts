import { defined, type ModelId, type PolicyId } from "@mrlm/spec";
import type { CreateModelOptions, Trainer } from "@mrlm/spec/host";
import { trainedPolicy } from "../config/policies.ts";
import type { ReferenceModel, ResolvedConfig } from "../config/resolve-config.ts";
import { assertSameTokens, type TokenizerFiles } from "../prepare/same-tokens.ts";

/** Returns the end of the ids of a policy's other models: empty in a run with one policy. */
export function ownSuffix({ policies }: Pick<ResolvedConfig, "policies">, policy: PolicyId): string {
  return Object.keys(policies).length === 1 ? "" : `-${policy}`;
}

/**
 * Returns the options of the reference of a policy in a stage: a model of a directory, or the policy at the stage's beginning. In the first stage a new adapter
 * is zero, so the policy with its adapter off is the same model and takes no memory. In later stages, with a loaded adapter, or if the reference becomes
 * the policy later, a copy is necessary.
 */
export function referenceOptions(config: ResolvedConfig, index: number, policy: PolicyId): CreateModelOptions {
  const { lora, dtype, float32_head: float32Head } = trainedPolicy(config, policy).model;
  const { path, reset_every } = settingsOf(config, index, policy);
  const base = {
    model: `reference-${index}${ownSuffix(config, policy)}`,
    role: "reference",
    trainable: false,
  } as const;
  if (path !== undefined)
    return {
      ...base,
      source: { kind: "directory", path },
      dtype,
      ...defined({ float32Head }),
    };
  const isOff = lora !== undefined && lora.path === undefined && index === 0 && reset_every === undefined;
  return { ...base, source: { kind: isOff ? "adapter-off" : "copy", of: policy } };
}

/** Reference of a policy in a stage. */
export class Reference {
  readonly #parts: ReferenceParts;
  readonly #options: CreateModelOptions;
  #model: Promise<ModelId> | undefined;

  constructor(parts: ReferenceParts) {
    this.#parts = parts;
    this.#options = referenceOptions(parts.config, parts.index, parts.policy);
  }

  /** Returns the model. The first call creates it, unless a checkpoint has restored it. */
  model(): Promise<ModelId> {
    return (this.#model ??= this.#make());
  }

  /**
   * Moves the reference after an iteration, as `reference_model` states: to the present policy, or to an exponential average of weights.
   * @param iteration number of the iteration, from 1
   */
  async follow(iteration: number): Promise<void> {
    const { engine, config, index, policy } = this.#parts;
    const { reset_every: every, ema } = settingsOf(config, index, policy);
    if (ema !== undefined) await engine.average({ model: await this.model(), of: policy, decay: ema });
    if (every === undefined || iteration % every !== 0) return;
    await engine.releaseModel(await this.model());
    await engine.createModel({ ...this.#options, source: { kind: "copy", of: policy } });
  }

  async #make(): Promise<ModelId> {
    const { engine, restored, policy, tokenizer } = this.#parts;
    const { model, source } = this.#options;
    if (restored.has(model)) return model;
    const { tokenizerFiles } = await engine.createModel(this.#options);
    if (source.kind === "directory")
      assertSameTokens({ policy, files: tokenizer() }, { name: source.path, files: tokenizerFiles });
    return model;
  }
}

/** Parts of a {@link Reference}. */
export interface ReferenceParts {
  readonly engine: Trainer;
  readonly config: ResolvedConfig;
  /** Index of the stage. */
  readonly index: number;
  readonly policy: PolicyId;
  /** Models restored from a checkpoint. */
  readonly restored: ReadonlySet<ModelId>;
  /** Returns the tokenizer files of the policy. */
  readonly tokenizer: () => TokenizerFiles;
}

function settingsOf({ stages }: ResolvedConfig, index: number, policy: PolicyId): ReferenceModel {
  return stages[index]?.learners[policy]?.reference_model ?? {};
}
