import { createHash } from "node:crypto";
import plugin, { python } from "@mrlm/environment-python";
import type { Fixture, JsonObject } from "@mrlm/kit";
import { bareEnvironment, environmentContract, inProcess } from "@mrlm/testing";

/** Tasks whose reference answers are scored. */
const TASKS = 50;
/** Time of a task above which the checks see few tasks, and these. */
const SLOW_MS = 500;
const FEW = { train: 60, eval: 5 };
/** Sets whose entries take seconds of CPU time: their numbers of tasks. */
export const LONG: Readonly<Record<string, number>> = { knight_swap: 12 };
/** Tasks whose entries are compared with those of another process. */
const COMPARED = 20;

/** Arguments of sets that have none by default. */
export const KWARGS: Readonly<Record<string, JsonObject>> = {
  composite: {
    datasets: [
      { name: "chain_sum", weight: 1 },
      { name: "gcd", weight: 1 },
    ],
  },
};

/** Measurements of one set. */
export interface MeasuredSet {
  readonly name: string;
  /** Mean score by its checker of its reference answers; `null`: it states none. */
  readonly reference: number | null;
  /** First entry whose reference answer has a score below 1, with that score. */
  readonly below?: { readonly seed: number; readonly index: number; readonly score: number };
  /** Largest score of an empty answer. */
  readonly empty: number;
  /** Digest of the first tasks. */
  readonly digest: string;
  /** Seed and index of these tasks. */
  readonly places: readonly (readonly [number, number])[];
  /** Findings of the contract, without those of a missing reference answer. */
  readonly findings: readonly string[];
  /** Reason why the set cannot be played. */
  readonly refused?: string;
}

/** Measures one set of reasoning-gym. @param interpreter Python with the library */
export async function measureTaskSet(name: string, interpreter: string): Promise<MeasuredSet> {
  const kwargs = KWARGS[name] ?? {};
  const options: JsonObject = { kind: "reasoning_gym", name, kwargs, python: interpreter, processes: 1 };
  try {
    const begin = performance.now();
    const few = LONG[name];
    const scores = await scoresOf(options, few);
    const isSlow = (performance.now() - begin) / (few ?? TASKS) > SLOW_MS;
    const seeds = few === undefined ? FEW : { train: few, eval: Math.ceil(few / 5) };
    const checked = { ...options, step_seconds: 20, ...(isSlow && { seeds }) };
    return { name, ...scores, findings: await findingsOf(checked, scores.reference !== null) };
  } catch (error) {
    const refused = (error as Error).message.split("\n").slice(0, 2).join(" ").slice(0, 300);
    return { name, reference: null, empty: 0, digest: "", places: [], findings: [], refused };
  }
}

/** Scores the reference answers and an empty one, as the checker of the set does. */
export async function scoresOf(
  options: JsonObject,
  count: number = TASKS,
): Promise<Pick<MeasuredSet, "reference" | "below" | "empty" | "digest" | "places">> {
  const bare = await bareEnvironment(python, options, {});
  const scoreOf = async (task: string, answer: string): Promise<number> => {
    const [step] = await bare.play(task, [`<answer>${answer}</answer>`]);
    const reward = step?.rewards["agent"];
    if (reward?.scored !== true) throw new Error(`${task}: ${JSON.stringify(reward)}`);
    return reward.components["score"] as number;
  };
  let [sum, empty, stated] = [0, Number.NEGATIVE_INFINITY, 0];
  let below: MeasuredSet["below"];
  const hash = createHash("sha256");
  const places: [number, number][] = [];
  for (let index = 0; index < count; index++) {
    const task = await bare.tasks.get("train", index);
    empty = Math.max(empty, await scoreOf(task.id, ""));
    const { answer } = task.private as { readonly answer?: string };
    const { question, seed, index: place } = task.public as { question: string; seed: number; index: number };
    if (index < COMPARED) {
      hash.update(`${question}\0${answer ?? ""}\u0001`);
      places.push([seed, place]);
    }
    if (answer === undefined) continue;
    stated++;
    const score = await scoreOf(task.id, answer);
    sum += score;
    if (score < 1 - 1e-9) below ??= { seed, index: place, score };
  }
  const reference = stated === 0 ? null : sum / stated;
  return { reference, empty, digest: hash.digest("hex").slice(0, 16), places, ...(below && { below }) };
}

/** Runs the contract of environments, which has the checks of `mrlm check`, and returns the codes of what it finds. */
async function findingsOf(options: JsonObject, hasAnswers: boolean): Promise<readonly string[]> {
  const tests: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  environmentContract({
    plugins: [{ ...plugin, environments: [{ ...python, fixtures: fixturesOf(hasAnswers) }] }],
    environment: "python-env@1",
    options,
    transports: { "in process": inProcess },
    registry: { describe: (_, body) => body(), test: (name, body) => void tests.push({ name, run: body }) },
  });
  const found: string[] = [];
  for (const { name, run: check } of tests)
    try {
      await check();
    } catch (error) {
      const text = (error as Error).message;
      const codes = [...text.matchAll(/^(?:error|warning) ([A-Z_]+): (.*)/gm)].map(
        ([, code, what]) => `${code}: ${what}`,
      );
      found.push(...(codes.length > 0 ? codes : [`${name}: ${text.split("\n")[0]}`]));
    }
  // A set without reference answers has neither a gold fixture nor demonstrations.
  return found.filter((each) => hasAnswers || !/gold|states no answer/.test(each));
}

type Request = Parameters<Fixture["policy"]>[0];
const answerOf = ({ task }: Request): string => String(task.private["answer"]);
const questionOf = ({ task }: Request): string => String(task.public["question"]);

function fixturesOf(hasAnswers: boolean): readonly Fixture<never, never>[] {
  const tag = (text: string): string => `<answer>${text}</answer>`;
  const fixtures: readonly Fixture[] = [
    ...(hasAnswers
      ? ([
          {
            name: "reference",
            kind: "gold",
            task: "train/0",
            policy: (request: Request) => tag(answerOf(request)),
            reward: 1,
          },
          { name: "no tag", kind: "malformed", policy: answerOf, reward: 0 },
        ] as const)
      : ([{ name: "no tag", kind: "malformed", policy: questionOf, reward: 0 }] as const)),
    { name: "nothing", kind: "nop", policy: () => "", reward: 0 },
    { name: "empty answer", kind: "cheat", policy: () => tag(""), reward: 0 },
    { name: "the question", kind: "cheat", policy: (request) => tag(questionOf(request)), reward: 0 },
    { name: "twice", kind: "determinism", seed: 1, policy: () => tag("1") },
  ];
  return fixtures as readonly Fixture<never, never>[];
}
