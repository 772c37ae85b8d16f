import { isObject, type Reward, score, unscored } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Rewards by name; a text is the reason why there are none. */
export type Rewards = Readonly<Record<string, number>> | string;

/** Reads the reward files of a test: `reward.json` where it exists, else `reward.txt`. */
export function readRewards(files: {
  readonly json: Uint8Array | undefined;
  readonly text: Uint8Array | undefined;
}): Rewards {
  if (files.json !== undefined) return rewardsOfJson(new TextDecoder().decode(files.json));
  if (files.text === undefined) return "the tests wrote neither reward.txt nor reward.json";
  const text = new TextDecoder().decode(files.text).trim();
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) return "reward.txt is no finite number";
  return { reward: value };
}

function rewardsOfJson(text: string): Rewards {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return "reward.json is not JSON";
  }
  if (!isObject(value)) return "reward.json is no object";
  const rewards: Record<string, number> = {};
  for (const [name, each] of Object.entries(value)) {
    const number = typeof each === "boolean" ? Number(each) : each;
    if (typeof number !== "number" || !Number.isFinite(number)) return "a value of reward.json is no finite number";
    rewards[name] = number;
  }
  return rewards;
}

/** Returns the reward that training uses: `reward`, else the only one. */
export function rewardOf(rewards: Rewards): Reward {
  if (typeof rewards === "string")
    return unscored("SCORER_FAILED", `The tests of the task gave no reward: ${rewards}.`);
  const values = Object.values(rewards);
  const value = rewards["reward"] ?? (values.length === 1 ? values[0] : undefined);
  if (value === undefined)
    return unscored("SCORER_FAILED", "The tests of the task gave several rewards, and none has the name `reward`.");
  return score(value, { reward: value });
}

/** Whether rewards meet the threshold of a step: a number is that of `reward`. */
export function meets(
  rewards: Readonly<Record<string, number>>,
  least: number | Readonly<Record<string, number>> | undefined,
): boolean {
  if (least === undefined) return true;
  const thresholds = typeof least === "number" ? { reward: least } : least;
  return Object.entries(thresholds).every(([name, threshold]) => (rewards[name] ?? -Infinity) >= threshold);
}

/** Returns the rewards of a task from those of its steps: the last ones, or the mean by name, where a missing name counts 0. */
export function joined(all: readonly Rewards[], strategy: "mean" | "final"): Rewards {
  const unknown = all.find((each) => typeof each === "string");
  if (unknown !== undefined) return unknown;
  const known = all as readonly Readonly<Record<string, number>>[];
  if (strategy === "final") return known.at(-1) ?? {};
  const names = new Set(known.flatMap((each) => Object.keys(each)));
  const mean = (name: string): number => known.reduce((sum, each) => sum + (each[name] ?? 0), 0) / known.length;
  return Object.fromEntries([...names].map((name) => [name, mean(name)]));
}
