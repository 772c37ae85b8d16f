import { type JsonObject, MrlmError, type PolicyId } from "@mrlm/spec";
import type { Player, PlayerRef } from "@mrlm/spec/host";
import type { PolicySources } from "../plugins/plugin-kinds.ts";
import { describeIssues, validateOptions } from "../plugins/standard-options.ts";
import { ENDPOINT_POLICY, endpointName, outsidePlayer } from "./outside-policies.ts";

/** Model of an endpoint that is measured in the place of a policy. */
export type MeasuredEndpoint = Extract<PlayerRef, { readonly endpoint: string }>;

/** Returns the name of a measured endpoint in reports. */
export function measuredName({ endpoint, model }: MeasuredEndpoint): string {
  return endpointName(endpoint, model);
}

/**
 * Returns the player of a model of an endpoint that plays as a policy: its messages can be learnt from, and it is measured.
 * @throws PLAYER_NOT_FOUND without the plugin, OPTIONS_INVALID
 */
export async function measuredEndpoint(
  reference: MeasuredEndpoint,
  { policies, policy }: { readonly policies: Pick<PolicySources, "policy">; readonly policy: PolicyId },
): Promise<Player> {
  const { endpoint, options = {}, ...keys } = reference;
  const source = await policies.policy(ENDPOINT_POLICY);
  const given: JsonObject = { ...options, ...keys, base_url: endpoint };
  const outcome = source.options === undefined ? undefined : await validateOptions(source.options, given);
  if (outcome?.ok === false)
    throw new MrlmError(
      "OPTIONS_INVALID",
      `Options of the model ${measuredName(reference)}: ${describeIssues(outcome.issues, source.options)}.`,
    );
  const player = outsidePlayer(ENDPOINT_POLICY, source, outcome?.value ?? given, measuredName(reference));
  return { ...player, recordedAs: policy };
}
