import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageText } from "@mrlm/kit";
import { configuredPlugins, loadConfig, LocalHost, PluginHost } from "@mrlm/runtime";
import { type JsonObject, type Logger, type Policy, type Reward, SINGLE_AGENT } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { type Finding, findingOf, SourcePlaces } from "@mrlm/testing";
import { FORGERIES, script, searchFor } from "./task-forgeries.ts";

/** Name of the environment that plays tasks. */
const ENVIRONMENT = "harbor";
/** Shorter files occur by chance. */
const LEAST_BYTES = 24;

/** Result of {@link checkTasks}. */
export interface TaskCheck {
  readonly tasks: readonly string[];
  readonly checks: number;
  readonly findings: readonly Finding[];
}

interface TaskCheckOptions {
  /** Folder of the project whose plugins play, with the options of mrlm.yaml where it has one. */
  readonly directory: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  onTask(name: string): void;
}

/** Whether a folder is a task, or has tasks and is no package. */
export function hasTasks(folder: string): boolean {
  if (existsSync(join(folder, "package.json")) || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return false;
  return ["", ...readdirSync(folder)].some((name) => existsSync(join(folder, name, "task.toml")));
}

/**
 * Plays the tasks of a folder: no action, the worked solution twice, and programs that try to read the tests or to write the reward.
 * @throws DATA_INVALID, with file and line, for a task that is malformed
 */
export async function checkTasks(folder: string, options: TaskCheckOptions): Promise<TaskCheck> {
  const { directory, logger, signal, onTask } = options;
  const configuration = join(directory, "mrlm.yaml");
  const loaded = existsSync(configuration) ? loadConfig(configuration) : undefined;
  const configured = loaded === undefined ? {} : configuredPlugins(loaded);
  const plugins = await PluginHost.discover({ directory, logger, ...configured });
  const host = new LocalHost({ source: plugins, logger, dataDirectory: directory });
  try {
    const own = loaded?.config.environments.find(({ id }) => id.split("@", 1)[0] === ENVIRONMENT)?.options ?? {};
    const ref = {
      id: ENVIRONMENT,
      options: { bases: { "*": "host" }, ...own, tasks: folder, eval_share: 0 } satisfies JsonObject,
    };
    const { splits } = await host.describe(ref);
    const checker = new TaskChecker(host, ref, folder, signal);
    for (let index = 0; index < (splits["train"] ?? 0) && !signal.aborted; index++)
      await checker.check(`train/${index}`, onTask).catch((error: unknown) => {
        // After an interrupt the findings so far are reported.
        if (!signal.aborted) throw error;
      });
    return checker;
  } finally {
    await host.close();
    await plugins.close();
  }
}

interface Played {
  readonly name: string;
  readonly reward: Reward | undefined;
  /** Results of calls. */
  readonly results: readonly string[];
}

class TaskChecker implements TaskCheck {
  readonly tasks: string[] = [];
  readonly findings: Finding[] = [];
  checks = 0;
  readonly #host: EnvironmentHost;
  readonly #ref: EnvironmentRef;
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly #places: SourcePlaces;
  /** Files of the folder before the next task is played. */
  #files: ReturnType<typeof filesBelow>;
  #subject = "";

  constructor(host: EnvironmentHost, ref: EnvironmentRef, folder: string, signal: AbortSignal) {
    this.#host = host;
    this.#ref = ref;
    this.#folder = folder;
    this.#signal = signal;
    this.#places = new SourcePlaces(folder);
    this.#files = filesBelow(folder);
  }

  async check(task: string, onTask: (name: string) => void): Promise<void> {
    const before = this.#files;
    const nothing = await this.#play(task, script());
    this.#subject = `task:${nothing.name}`;
    this.tasks.push(this.#subject);
    onTask(this.#subject);
    this.#expect(isValue(nothing.reward, 0), "FIXTURE_REWARD", [
      `No action earns ${shown(nothing.reward)}, not 0.`,
      "Let the tests fail before the task is solved.",
    ]);
    const [first, second] = [await this.#solve(task), await this.#solve(task)];
    this.#expect(isValue(first.reward, 1), "FIXTURE_REWARD", [
      `The worked solution earns ${shown(first.reward)}, not 1. It printed: ${first.results.at(-1)?.slice(-500) ?? "nothing"}`,
      "Correct solution/solve.sh, or the tests. The limit of a call is `timeout_ms` of @mrlm/tool-shell.",
    ]);
    this.#expect(shown(first.reward) === shown(second.reward), "FIXTURE_DETERMINISM", [
      `The worked solution earns ${shown(first.reward)}, then ${shown(second.reward)}.`,
      "Remove from the tests what differs between two runs: times, random numbers, the order of folders.",
    ]);
    await this.#checkHidden(task);
    for (const [act, command] of Object.entries(FORGERIES)) {
      const { reward } = await this.#play(task, script(command));
      this.#expect(reward?.scored === true && reward.value <= 0, "STRATEGY_PAYS", [
        `A program that solves nothing and ${act} earns ${shown(reward)}, not 0.`,
        'Let test.sh write 0 first, and run only programs and modules that the policy cannot replace (`cd /tests && python3 -I ...`); over an image also state `environment_mode = "separate"`.',
      ]);
    }
    const after = filesBelow(this.#folder);
    this.#files = after;
    const paths = [...new Set([...before.keys(), ...after.keys()])];
    const changed = paths.filter((path) => before.get(path)?.hash !== after.get(path)?.hash);
    this.#expect(changed.length === 0, "TASK_CHANGED", [
      `The episodes changed files outside: ${changed.join(", ")}.`,
      "Report it with the task.",
    ]);
  }

  /** Checks that no file that the policy can read has the content of one of the tests or of the solution. */
  async #checkHidden(task: string): Promise<void> {
    // A repository in environment/ has tests of its own.
    const hidden = [...this.#files].filter(
      ([path, { bytes }]) =>
        bytes >= LEAST_BYTES && /(^|\/)(tests|solution)\//.test(path) && !/(^|\/)environment\//.test(path),
    );
    const { results } = await this.#play(task, script(searchFor(hidden.map(([, { hash }]) => hash))));
    const seen = hidden.filter(([, { hash }]) => results.some((text) => text.includes(hash)));
    this.#expect(seen.length === 0, "TASK_PRIVATE_SHOWN", [
      `The policy can read ${seen.map(([path]) => path).join(", ")} before the tests run.`,
      "Leave the file out of environment/.",
    ]);
  }

  async #solve(task: string): Promise<Played> {
    const policy = (await this.#host.scripted?.(this.#ref, { name: "oracle", seed: 0 })) as Policy;
    return this.#play(task, (observation, options) => policy.act(observation, options));
  }

  async #play(task: string, act: Policy["act"]): Promise<Played> {
    const session = await this.#host.open(this.#ref);
    const signal = this.#signal;
    try {
      let observation = await session.reset({ task, signal });
      const name = String(observation.info?.["task"]);
      const results: string[] = [];
      for (;;) {
        const step = await session.step(await act(observation, { signal }), { signal });
        for (const { parts } of step.observation.messages)
          for (const part of parts)
            if (part.type === "tool-result") results.push(messageText({ role: "tool", parts: part.content }));
        if (step.terminated[SINGLE_AGENT] === true || step.truncated[SINGLE_AGENT] === true)
          return { name, results, reward: step.rewards[SINGLE_AGENT] };
        observation = step.observation;
      }
    } finally {
      await session.close();
    }
  }

  #expect(holds: boolean, code: Finding["code"], [message, fix]: readonly [string, string]): void {
    this.checks++;
    if (holds) return;
    const about = { subject: this.#subject, places: this.#places, fix };
    this.findings.push(findingOf(code, new Error(message), about));
  }
}

function isValue(reward: Reward | undefined, value: number): boolean {
  return reward?.scored === true && reward.value === value;
}

function shown(reward: Reward | undefined): string {
  if (reward === undefined) return "no reward";
  return reward.scored ? String(reward.value) : `no reward (${reward.code}: ${reward.message})`;
}

function filesBelow(folder: string): Map<string, { readonly hash: string; readonly bytes: number }> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = paths.filter((path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true);
  return new Map(
    files.map((path) => {
      const content = readFileSync(join(folder, path));
      return [path, { hash: createHash("sha256").update(content).digest("hex"), bytes: content.length }];
    }),
  );
}
