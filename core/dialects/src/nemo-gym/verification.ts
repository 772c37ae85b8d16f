import { type JsonObject, type JsonValue, MrlmError, type Reward } from "@mrlm/spec";

/** Result of an episode for `/verify`. */
export interface Verification {
  readonly reward: Reward;
  readonly terminated: boolean;
  readonly truncated: boolean;
}

/** Kinds of failures that NeMo Gym groups samples by. */
type FailureKind = "judge_failed" | "session_lost" | "verifier_error";

/**
 * Returns the answer of `/verify`: the request with the reward. An unscored episode is a masked sample, which trainers leave out; its number, which the
 * protocol requires, is 0. Components are also top-level numbers, which metrics read, unless the row has a field of that name.
 */
export function verified(request: JsonObject, { reward, terminated, truncated }: Verification): JsonObject {
  const answer = { ...request, terminated, truncated };
  if (!reward.scored)
    return { ...answer, ...masked(reward.code.startsWith("JUDGE_") ? "judge_failed" : "verifier_error", reward) };
  const components = Object.entries(reward.components).filter(([name]) => !Object.hasOwn(answer, name));
  return {
    ...(Object.fromEntries(components) as Record<string, JsonValue>),
    ...answer,
    reward: reward.value,
    reward_components: reward.components,
    mask_sample: false,
  };
}

/** Returns the answer of `/verify` for an episode that has failed or whose session is gone. */
export function failed(request: JsonObject, error: unknown): JsonObject {
  const known = MrlmError.isInstance(error) ? error : new MrlmError("INTERNAL", "The episode failed.");
  const kind = known.code === "SESSION_NOT_FOUND" ? "session_lost" : "verifier_error";
  return { ...request, terminated: false, truncated: true, ...masked(kind, known) };
}

function masked(
  kind: FailureKind,
  { code, message }: { readonly code: string; readonly message: string },
): Record<string, JsonValue> {
  return { reward: 0, mask_sample: true, failure_kind: kind, failure_reason: `${code}: ${message}` };
}
