import { MrlmError } from "@mrlm/spec";
import type { EvaluationResult } from "./evaluate.ts";
import type { EpisodeSummary } from "./summarise.ts";

/** Condition on a number of a result: `accuracy >= 0.8`. */
export interface Requirement {
  readonly text: string;
  /** Returns the number; `null` where the result lacks it, which then fails. */
  readonly numberOf: (result: EvaluationResult) => number | null;
  readonly holds: (number: number) => boolean;
}

/** Numbers of episodes by name. Accuracy counts episodes that failed or have no score as wrong, and a mean reward without them is no number: a requirement must not hold because of them. */
const NUMBERS: Readonly<Record<string, (summary: EpisodeSummary) => number | null>> = {
  accuracy: ({ accuracy, strictAccuracy }) => strictAccuracy ?? accuracy,
  reward: ({ reward, failed, unscored }) => (failed + unscored > 0 ? null : reward),
  tokens: ({ tokens }) => tokens,
  cut: ({ cut }) => cut,
  failed: ({ failed }) => failed,
  unscored: ({ unscored }) => unscored,
  truncated: ({ truncated }) => truncated,
};

const OPERATORS: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  ">=": (one, other) => one >= other,
  ">": (one, other) => one > other,
  "<=": (one, other) => one <= other,
  "<": (one, other) => one < other,
};

const FORM = /^\s*(sampled\.)?([\w@^]+)(?::(\S+))?\s*(>=|>|<=|<)\s*(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*$/;

/** Parses a condition. Throws USAGE. */
export function parseRequirement(text: string): Requirement {
  const [, sampled, name = "", component, operator = "", number = ""] = FORM.exec(text) ?? [];
  const compare = OPERATORS[operator];
  const numberOf = compare === undefined ? undefined : numberNamed(name, component, sampled !== undefined);
  if (compare === undefined || numberOf === undefined)
    throw new MrlmError("USAGE", `--require ${text} is not a condition such as "accuracy >= 0.8".`, {
      hint: `A name (${Object.keys(NUMBERS).join(", ")}, reward:COMPONENT, pass@K, pass^K; sampled.NAME for sampled episodes), then >=, >, <= or <, then a number.`,
    });
  return { text: text.trim(), numberOf, holds: (found) => compare(found, Number(number)) };
}

function numberNamed(
  name: string,
  component: string | undefined,
  isSampled: boolean,
): Requirement["numberOf"] | undefined {
  const [, kind, k] = /^pass([@^])(\d+)$/.exec(name) ?? [];
  if (kind !== undefined && component === undefined)
    return ({ sampled }) => {
      // Tasks that lost a sample are left out of the estimate: it would hold for the others alone.
      if (sampled === undefined || sampled.failed + sampled.unscored > 0) return null;
      const found = sampled.passAtK.find((each) => each.k === Number(k));
      return (kind === "@" ? found?.value : found?.all.value) ?? null;
    };
  const ofComponent = component !== undefined && name === "reward";
  const number = ofComponent
    ? ({ components }: EpisodeSummary) => components[component] ?? null
    : component === undefined && Object.hasOwn(NUMBERS, name)
      ? NUMBERS[name]
      : undefined;
  if (number === undefined) return undefined;
  return ({ greedy, sampled }) => (isSampled ? (sampled === undefined ? null : number(sampled)) : number(greedy));
}
