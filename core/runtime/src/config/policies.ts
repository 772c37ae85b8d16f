import { defined, type JsonObject, MrlmError, type PolicyId } from "@mrlm/spec";
import type {
  ResolvedConfig,
  ResolvedLearner,
  ResolvedModel,
  ResolvedSampling,
  ResolvedStage,
} from "./resolve-config.ts";
import { DEFAULT_POLICY } from "./sections/environments.ts";

/** A trained model of a configuration. */
export interface TrainedPolicy {
  readonly policy: PolicyId;
  readonly model: ResolvedModel;
}

/** Returns the trained models of a configuration, in its order. */
export function trainedPolicies({ policies }: Pick<ResolvedConfig, "policies">): readonly TrainedPolicy[] {
  return Object.entries(policies).map(([policy, model]) => ({ policy, model }));
}

/** Returns a trained model of a configuration, with its name; by default the first one. */
export function trainedPolicy(config: Pick<ResolvedConfig, "policies">, name?: PolicyId): TrainedPolicy {
  const found = trainedPolicies(config).find(({ policy }) => name === undefined || policy === name);
  if (found === undefined) throw new MrlmError("INTERNAL", `The configuration has no policy ${name ?? ""}.`);
  return found;
}

/** Returns the sampling of a policy: in a stage, or outside of stages. */
export function samplingOf(
  { policies, sampling }: Pick<ResolvedConfig, "policies" | "sampling">,
  policy: PolicyId,
  stage?: ResolvedStage,
): ResolvedSampling {
  return { ...(stage ?? { sampling }).sampling, ...policies[policy]?.sampling, ...stage?.learners[policy]?.sampling };
}

/**
 * Returns the configuration in the form in which it is written: `model` in place of `policies` if the only policy has the default name, and an algorithm in
 * place of `learners` if there is one policy.
 */
export function withShortForms(config: ResolvedConfig): JsonObject {
  const { [DEFAULT_POLICY]: model, ...others } = config.policies;
  const isShort = model !== undefined && model.sampling === undefined && Object.keys(others).length === 0;
  const [only, ...more] = Object.values(config.policies);
  const stages = config.stages.map((stage) => (more.length === 0 ? shortStage(stage, only?.sampling) : stage));
  const entries = Object.entries(config).map(([key, value]) => {
    if (key === "stages") return [key, stages];
    return key === "policies" && isShort ? ["model", model] : [key, value];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** @param ofPolicy sampling of the policy, which replaces that of a stage, and not that of a learner */
function shortStage(stage: ResolvedStage, ofPolicy: ResolvedModel["sampling"]): unknown {
  const { name, sampling, until, curriculum, learners } = stage;
  const [learner] = Object.values(learners);
  const { algorithm, sampling: own, options, ...models } = learner as ResolvedLearner;
  if (own !== undefined && ofPolicy !== undefined) return stage;
  return { algorithm, name, sampling: { ...sampling, ...own }, ...defined({ until, curriculum }), ...models, options };
}
