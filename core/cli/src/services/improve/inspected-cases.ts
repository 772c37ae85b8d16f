import { LocalHost, PluginHost } from "@mrlm/runtime";
import { messageText } from "@mrlm/kit";
import { defined, type JsonObject, type Logger, MrlmError, type Plugin, type TaskId } from "@mrlm/spec";
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
  /** SHA-256 of the file. */
  readonly hash: string | undefined;
}

/** Answers of the training cases, where the file has them. */
export interface ExpectedAnswers {
  /** Mean reward of the expected answers. */
  readonly reward: number;
  /** Number of those that earn less than 1, or have no score. */
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
      return new CaseInspection({ ref: { id, options }, train, held, hash: dataFiles?.[path] }, host, plugins);
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

  /** Grades the expected answers of the training cases; `undefined` where one of them has none. */
  async expectedAnswers(signal: AbortSignal): Promise<ExpectedAnswers | undefined> {
    const ids = idsOf("train", this.cases.train);
    const texts = await this.#demonstrations(ids);
    if (texts === undefined) return undefined;
    const rewards = await this.#play(
      ids.map((task, i) => ({ task, text: texts[i] as string })),
      signal,
    );
    const common = [...Map.groupBy(texts, (text) => text)]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .slice(0, FIXED_ANSWERS);
    let best = { text: "", reward: -1 };
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
      reward: meanOf(rewards),
      below: rewards.filter((reward) => reward === undefined || reward < 1).length,
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
      const reward = rewards[i] ?? null;
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

  async #demonstrations(ids: readonly TaskId[]): Promise<string[] | undefined> {
    try {
      const found = await this.#host.demonstrate(this.cases.ref, ids);
      return found.map(({ messages }) => messageText(messages.at(-1) as (typeof messages)[number]));
    } catch (error) {
      if (MrlmError.hasCode(error, "DEMONSTRATION_REFUSED")) return undefined;
      throw error;
    }
  }
}

function idsOf(split: string, size: number): TaskId[] {
  return Array.from({ length: size }, (_, index): TaskId => `${split}/${index}`);
}

/** Returns the mean of rewards, with 0 for those without a score. */
function meanOf(rewards: readonly (number | undefined)[]): number {
  return rewards.reduce<number>((sum, reward) => sum + (reward ?? 0), 0) / Math.max(1, rewards.length);
}
