import type { JsonValue, JudgementRecord, Reward, Trajectory } from "@mrlm/spec";

/** Returns the judgements that the host reports in the `info` of an episode, in the order of their steps. Ignores values of another form. */
export function judgementsOf({ info }: Pick<Trajectory, "info">): readonly JudgementRecord[] {
  const given = info?.["judgements"];
  return Array.isArray(given) ? given.filter(isJudgement) : [];
}

function isJudgement(value: JsonValue): value is JsonValue & JudgementRecord {
  if (!isObject(value)) return false;
  const { judge, step, verdict, reason, rewards } = value;
  return (
    [judge, verdict, reason].every((text) => typeof text === "string") &&
    Number.isSafeInteger(step) &&
    isObject(rewards) &&
    Object.values(rewards).every(isReward)
  );
}

function isReward(value: JsonValue): value is JsonValue & Reward {
  if (!isObject(value)) return false;
  const { scored, value: earned, components, code } = value;
  return scored === true ? typeof earned === "number" && isObject(components) : typeof code === "string";
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
