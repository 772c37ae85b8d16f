import { defined, type ModelId } from "@mrlm/spec";
import type { CreateModelOptions, PlayerRef } from "@mrlm/spec/host";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedEnvironment } from "../config/resolve-config.ts";

/** Model that plays in a run and is not trained. */
export interface FrozenModel {
  readonly model: ModelId;
  /** Hugging Face directory. */
  readonly path: string;
}

/** Whether a player is a frozen model. The model of an endpoint is not in the engine. */
export function isFrozen(player: PlayerRef): player is PlayerRef & { readonly model: string } {
  return "model" in player && !("endpoint" in player);
}

/** Returns the frozen models that play in these environments, each once, in the order of the configuration. */
export function frozenModels(environments: readonly ResolvedEnvironment[]): FrozenModel[] {
  const paths = environments.flatMap(({ players = {} }) =>
    Object.values(players).flatMap((player) => (isFrozen(player) ? [player.model] : [])),
  );
  return [...new Set(paths)].map((path, i) => ({ model: `frozen-${i}`, path }));
}

/** Returns every environment that a run plays: those of the training and, unless there is none, of the evaluation. */
export function environmentsOf({ environments, eval: evaluation }: ResolvedConfig): readonly ResolvedEnvironment[] {
  return [...environments, ...(evaluation.tasks === 0 ? [] : evaluation.environments)];
}

/**
 * Returns the options with which the engine creates a frozen model: weights of the same type as the policy's, without gradients and optimizer state.
 */
export function frozenOptions({ model, path }: FrozenModel, config: ResolvedConfig): CreateModelOptions {
  const { dtype, float32_head: float32Head } = trainedPolicy(config).model;
  return {
    model,
    role: "policy",
    source: { kind: "directory", path },
    trainable: false,
    dtype,
    ...defined({ float32Head }),
  };
}
