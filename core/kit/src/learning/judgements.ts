import { isObject, type JsonObject, type JsonValue, type Reward, type Trajectory } from "@mrlm/spec";
import type { GradeRecord, JudgementRecord } from "@mrlm/spec/host";

/** Returns the judgements that the host reports in the `info` of an episode, in the order of their steps. Ignores values of another form. */
export function judgementsOf({ info }: Pick<Trajectory, "info">): readonly JudgementRecord[] {
  const given = info?.["judgements"];
  return Array.isArray(given) ? given.filter(isJudgement) : [];
}

/** Returns the grades of scorers that the host reports beside the judgements, in the order of their steps. Ignores values of another form. */
export function gradesOf({ info }: Pick<Trajectory, "info">): readonly GradeRecord[] {
  const given = info?.["judgements"];
  return Array.isArray(given) ? given.filter(isGrade) : [];
}

/** Returns a step's result without the grades in its `info`. The texts of a scorer may change where nothing that is learnt from changes. */
export function withoutGrades<T extends { readonly info?: JsonObject }>(result: T): T {
  const given = result.info?.["judgements"];
  if (!Array.isArray(given) || !given.some(isGrade)) return result;
  const { judgements: _, ...info } = result.info as JsonObject;
  const rest = given.filter((value) => !isGrade(value));
  const left: JsonObject = rest.length === 0 ? info : { ...info, judgements: rest };
  const { info: __, ...others } = result;
  // The compiler does not see that these are the members of `result`.
  return { ...others, ...(Object.keys(left).length === 0 ? {} : { info: left }) } as unknown as T;
}

function isGrade(value: JsonValue): value is JsonValue & GradeRecord {
  if (!isObject(value)) return false;
  const { scorer, agent, step, verdict, reason, reward, extracted = "" } = value;
  return (
    [scorer, agent, verdict, reason, extracted].every((text) => typeof text === "string") &&
    Number.isSafeInteger(step) &&
    reward !== undefined &&
    isReward(reward)
  );
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
