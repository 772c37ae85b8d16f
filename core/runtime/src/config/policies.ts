import { MrlmError, type PolicyId } from "@mrlm/spec";
import type { ResolvedConfig, ResolvedModel } from "./resolved-config.ts";

/** Name of the policy that the key `model` of a configuration stands for. */
export const DEFAULT_POLICY: PolicyId = "policy";

/** Returns the trained model of a configuration, with its name. */
export function trainedPolicy({ policies }: Pick<ResolvedConfig, "policies">): {
  readonly policy: PolicyId;
  readonly model: ResolvedModel;
} {
  const [first] = Object.entries(policies);
  if (first === undefined) throw new MrlmError("INTERNAL", "The configuration has no policy.");
  return { policy: first[0], model: first[1] };
}

/** Returns the configuration with `model` in place of `policies` if the only policy has the default name. */
export function withModelKey(
  config: ResolvedConfig,
): Omit<ResolvedConfig, "policies"> & ({ readonly model: ResolvedModel } | Pick<ResolvedConfig, "policies">) {
  const { [DEFAULT_POLICY]: model, ...others } = config.policies;
  if (model === undefined || Object.keys(others).length > 0) return config;
  const entries = Object.entries(config).map(([key, value]) => (key === "policies" ? ["model", model] : [key, value]));
  return Object.fromEntries(entries) as ReturnType<typeof withModelKey>;
}
