import { createHash } from "node:crypto";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { messageText } from "@mrlm/kit";
import { defined, type JsonObject, type Logger, MrlmError, type Plugin, type Reward, type TaskId } from "@mrlm/spec";
import type { EnvironmentRef } from "@mrlm/spec/host";
import { searchCheats } from "@mrlm/testing";
import { playAnswers } from "./play-answers.ts";
import type { TaskScore } from "./verdict.ts";

/** Environment that plays the cases of files. */
const ENVIRONMENT = "cases";
/** Share of the distinct cases that is held out. */
export const HELD_OUT = 1 / 3;
/** Answers that are tried in every case: those that are expected most often. */
const FIXED_ANSWERS = 12;

/** File with cases, and the scorer of JSONL rows. */
export interface CaseFile {
  readonly path: string;
  readonly scorer?: string | undefined;
}

/** Programs that earn without solving, and notes about the search. */
export type CheatSearch = Awaited<ReturnType<typeof searchCheats>>;

/** Cases before a training. */
export interface InspectedCases {
  readonly ref: EnvironmentRef;
  readonly train: number;
  readonly held: number;
  /** Number of distinct inputs that are held out: cases with equal inputs are one observation. */
  readonly distinct: number;
  /** SHA-256 (hexadecimal) of the file, of the prompts by split, and of all expected answers, which the file may take from elsewhere. */
  readonly hash: string;
}

/** Answers of the training cases, where the file has them. */
export interface ExpectedAnswers {
  /** Number of training cases without one. */
  readonly missing: number;
  /** Reasons why expected answers have no score. */
  readonly unscored: readonly string[];
  /** Mean reward of the expected answers that have one. */
  readonly reward: number;
  /** Number of those that earn less than 1. */
  readonly below: number;
  /** Characters of the longest one. */
  readonly longest: number;
  /** The answer that earns most where it is given in every case. */
  readonly fixed: string;
}

/** Cases of a file, through the environment that trains and measures on them. */
export class CaseInspection {
  readonly cases: InspectedCases;
  readonly #host: LocalHost;
  readonly #plugins: PluginHost;

  private constructor(cases: InspectedCases, host: LocalHost, plugins: PluginHost) {
    this.cases = cases;
    this.#host = host;
    this.#plugins = plugins;
  }

  /** Reads the cases. Rejects with the errors of the file. The caller closes it. */
  static async open({ path, scorer }: CaseFile, directory: string, logger: Logger): Promise<CaseInspection> {
    const plugins = await PluginHost.discover({ directory, logger });
    const host = new LocalHost({ source: plugins, logger, dataDirectory: directory });
    const options: JsonObject = { data: { path, eval_share: HELD_OUT }, ...defined({ scorer }) };
    try {
      const { id, splits, dataFiles } = await host.describe({ id: ENVIRONMENT, options });
      const { train = 0, eval: held = 0 } = splits;
      const ref: EnvironmentRef = { id, options };
      // Held-out cases have no demonstrations: under these options all cases are training cases.
      const whole: EnvironmentRef = { id, options: { ...options, data: { path, eval_share: 0 } } };
      const [trained, tested] = [
        await promptsOf(host, ref, idsOf("train", train)),
        await promptsOf(host, ref, idsOf("eval", held)),
      ];
      const texts = await demonstrations(host, whole, idsOf("train", train + held));
      const hash = createHash("sha256")
        .update(JSON.stringify([dataFiles?.[path], trained, tested, texts.map((text) => text ?? null)]))
        .digest("hex");
      return new CaseInspection({ ref, train, held, distinct: new Set(tested).size, hash }, host, plugins);
    } catch (error) {
      await host.close();
      throw error;
    }
  }

  /** Searches a program that earns without solving. */
  async searchCheats(): Promise<CheatSearch> {
    const { id, options = {} } = this.cases.ref;
    const { registry } = this.#plugins;
    const { plugin } = await registry.provider("environment", id);
    const scorer = typeof options["scorer"] === "string" ? registry.resolve("scorer", options["scorer"]) : undefined;
    const providers: Plugin[] = scorer === undefined ? [] : [(await registry.provider("scorer", scorer)).plugin];
    return searchCheats([plugin, ...providers], { id, options });
  }

  /** Grades the expected answers of the training cases; `undefined` where none of them has one. */
  async expectedAnswers(signal: AbortSignal): Promise<ExpectedAnswers | undefined> {
    const ids = idsOf("train", this.cases.train);
    const found = await demonstrations(this.#host, this.cases.ref, ids);
    const answered = ids.flatMap((task, i) => (found[i] === undefined ? [] : [{ task, text: found[i] }]));
    if (answered.length === 0) return undefined;
    const rewards = await this.#play(answered, signal);
    const unscored = rewards.flatMap((reward) => (reward.scored ? [] : [reward.message]));
    const texts = answered.map(({ text }) => text);
    const common = [...Map.groupBy(texts, (text) => text)]
      .toSorted(([, one], [, other]) => other.length - one.length)
      // Nothing is trained where an expected answer has no score.
      .slice(0, unscored.length === 0 ? FIXED_ANSWERS : 0);
    let best = { text: texts[0] as string, reward: -1 };
    for (const [text] of common) {
      const reward = meanOf(
        await this.#play(
          ids.map((task) => ({ task, text })),
          signal,
        ),
      );
      if (reward > best.reward) best = { text, reward };
    }
    return {
      ...{ missing: ids.length - texts.length, unscored },
      reward: meanOf(rewards),
      below: rewards.filter((reward) => reward.scored && reward.value < 1).length,
      longest: Math.max(...texts.map((text) => text.length)),
      fixed: best.text,
    };
  }

  /** Returns the scores of one answer in every held-out case. */
  async scoresOf(text: string, signal: AbortSignal): Promise<TaskScore[]> {
    const ids = idsOf("eval", this.cases.held);
    const rewards = await this.#play(
      ids.map((task) => ({ task, text })),
      signal,
    );
    return ids.map((task, i) => {
      const given = rewards[i] as Reward;
      const reward = given.scored ? given.value : null;
      return { task, cluster: task, episodes: 1, solved: reward !== null && reward >= 1 ? 1 : 0, reward };
    });
  }

  async close(): Promise<void> {
    await this.#host.close();
    await this.#plugins.close();
  }

  #play(jobs: readonly { readonly task: TaskId; readonly text: string }[], signal: AbortSignal) {
    return playAnswers(this.#host, this.cases.ref, jobs, signal);
  }
}

/** Returns the prompts of tasks, as JSON. */
async function promptsOf(host: LocalHost, ref: EnvironmentRef, ids: readonly TaskId[]): Promise<string[]> {
  const session = await host.open(ref);
  try {
    const prompts: string[] = [];
    for (const task of ids) {
      const { messages } = await session.reset({ task, signal: new AbortController().signal });
      prompts.push(JSON.stringify(messages));
    }
    return prompts;
  } finally {
    await session.close();
  }
}

/** Returns the expected answers of training tasks in order; `undefined` for a task without one. */
async function demonstrations(
  host: LocalHost,
  ref: EnvironmentRef,
  ids: readonly TaskId[],
): Promise<(string | undefined)[]> {
  try {
    const found = await host.demonstrate(ref, ids);
    return found.map(({ messages }) => messageText(messages.at(-1) as (typeof messages)[number]));
  } catch (error) {
    if (!MrlmError.hasCode(error, "DEMONSTRATION_REFUSED")) throw error;
    if (ids.length === 1) return [undefined];
    // One that has no answer refuses all: halves find it in few calls.
    const middle = Math.ceil(ids.length / 2);
    return [
      ...(await demonstrations(host, ref, ids.slice(0, middle))),
      ...(await demonstrations(host, ref, ids.slice(middle))),
    ];
  }
}

function idsOf(split: string, size: number): TaskId[] {
  return Array.from({ length: size }, (_, index): TaskId => `${split}/${index}`);
}

/** Returns the mean of the rewards that have a score; 0 without any. */
function meanOf(rewards: readonly Reward[]): number {
  const values = rewards.flatMap((reward) => (reward.scored ? [reward.value] : []));
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
