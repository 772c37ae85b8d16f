import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import {
  type Demonstration,
  type EnvironmentDefinition,
  type Fixture,
  type Message,
  messageText,
  type Observation,
  type Plugin,
  type Policy,
  randomStream,
  roleOf,
  SINGLE_AGENT,
  type Task,
  taskById,
  type TaskSource,
  textMessage,
} from "@mrlm/kit";
import type { EnvironmentSession } from "@mrlm/spec/host";

const PLANTED = fileURLToPath(new URL("../../fixtures/planted", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

/** Episodes that are played at the same time: sandboxes have several children. */
const LANES = 4;
/** Turns after which an episode is given up: each environment has an end of its own. */
const MOST_TURNS = 200;

/** Kinds of environments in the corpus. */
export const KINDS = ["single-turn", "multi-turn", "tool", "judge", "code", "game"] as const;

/** A policy that earns reward without solving, as `cheat.js` exports it. */
interface Cheat {
  /** Way in which the reward is earned. */
  readonly hole: string;
  readonly kind: (typeof KINDS)[number];
  cheat(observation: Observation, history: readonly Message[]): string | Message;
}

/** An environment of the corpus, loaded by its manifest, and the cheat beside it. */
export interface Planted {
  readonly definition: EnvironmentDefinition;
  readonly tasks: TaskSource;
  readonly host: LocalHost;
  readonly cheat: Cheat | undefined;
}

/** Chooses the next message. It plays every agent whose role has no script. */
export type Player = (turn: {
  readonly observation: Observation;
  /** The agent's conversation before this observation. */
  readonly history: readonly Message[];
  /** Index of the turn in the episode, from 0. */
  readonly turn: number;
  readonly task: Task;
}) => string | Message;

/** Rewards of an episode by agent: those of the player only. An unscored or failed episode has none. */
type Totals = Readonly<Record<string, number>> | undefined;

/** Returns the names of the folders below `holes` or `sound`. */
export function plantedNames(part: "holes" | "sound"): readonly string[] {
  return readdirSync(join(PLANTED, part)).sort();
}

/** Loads the plugin of a folder as `mrlm` does, beside the plugins of the repository. */
export async function loadPlanted(part: "holes" | "sound", name: string): Promise<Planted> {
  const directory = join(PLANTED, part, name);
  const source = await PluginHost.discover({ directory: ROOT, plugins: { [directory]: true } });
  const { default: plugin } = (await import(entryOf(directory))) as { readonly default: Plugin };
  const [definition] = plugin.environments ?? [];
  if (definition === undefined) throw new Error(`${directory} has no environment`);
  const cheatFile = join(directory, "cheat.js");
  const cheat = existsSync(cheatFile) ? ((await import(pathToFileURL(cheatFile).href)) as Cheat) : undefined;
  // The tasks of the corpus need neither a context nor options.
  const tasks = await definition.tasks?.({} as never, {});
  if (tasks === undefined) throw new Error(`${definition.id} has no tasks`);
  return { definition, tasks, host: new LocalHost({ source }), cheat };
}

function entryOf(directory: string): string {
  const { mrlm } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as {
    readonly mrlm: { readonly entry: string };
  };
  return pathToFileURL(join(directory, mrlm.entry)).href;
}

/** Returns the largest reward that the environment documents. */
export function topReward({ definition: { rewardRange = [0, 1] } }: Planted): number {
  return (typeof rewardRange === "function" ? rewardRange({}) : rewardRange)[1];
}

/** Returns the gold fixture without options of its own: its policy works for every task. */
export function goldFixture({ definition }: Planted): Fixture {
  const gold = definition.fixtures?.find(({ kind, options }) => kind === "gold" && options === undefined);
  if (gold === undefined) throw new Error(`${definition.id} has no gold fixture`);
  return gold;
}

/** Returns the player of a fixture. */
export function fixturePlayer(fixture: Fixture): Player {
  return ({ observation, history, turn, task }) =>
    fixture.policy({
      agent: observation.agent,
      role: roleOf(observation.agent),
      messages: [...history, ...observation.messages],
      turn,
      task,
    });
}

/** Returns a player that repeats a demonstration; the other agents play as the gold fixture does. */
export function demonstrationPlayer(demonstration: Demonstration, others: Player): Player {
  const response = demonstration.messages.filter(({ role }) => role === "assistant");
  let next = 0;
  return (turn) => {
    if (turn.observation.agent !== demonstration.agent) return others(turn);
    return response[next++] ?? "";
  };
}

/** Returns the player of a cheat: it receives no task. */
export function cheatPlayer({ cheat }: Cheat): Player {
  return ({ observation, history }) => {
    const response = cheat(observation, history);
    if (typeof response === "string" || Array.isArray(response?.parts)) return response;
    throw new TypeError(`The cheat returned ${typeof response}, which is no message`);
  };
}

/** Returns a player that writes digits, letters or words that it has read, without a plan. */
export function randomPlayer(seed: number): Player {
  const random = randomStream("random player", seed);
  return ({ observation }) => {
    const read = observation.messages.flatMap((message) => messageText(message).split(/\s+/)).filter(Boolean);
    const digits = String(random.integer(0, 99));
    const letters = Array.from({ length: random.integer(1, 4) }, () => random.pick([..."abcdefghijklmnop"])).join("");
    return random.pick([digits, letters, ...(read.length === 0 ? [] : [random.pick(read)])]);
  };
}

interface EpisodeOptions {
  readonly task?: string;
  readonly seed?: number;
  readonly player: Player;
  /** Scripts by role; default: those of the gold fixture. */
  readonly players?: Fixture["players"];
  /** Whether a step that fails leaves the episode unscored; default: the failure is thrown. */
  readonly isFailureUnscored?: boolean;
}

/** Plays one episode. Rejects where the environment fails. */
export async function playEpisode(planted: Planted, options: EpisodeOptions): Promise<Totals> {
  const session = await planted.host.open({ id: planted.definition.id });
  try {
    return await playIn(session, planted, options);
  } finally {
    await session.close();
  }
}

async function playIn(session: EnvironmentSession, planted: Planted, options: EpisodeOptions): Promise<Totals> {
  const { definition, host } = planted;
  const { task: id, seed = 0, player, players = goldFixture(planted).players ?? {} } = options;
  const { signal } = new AbortController();
  const scripted = new Map<string, Policy>();
  const histories = new Map<string, Message[]>();
  const totals = new Map<string, number>();
  let isScored = true;
  for (const role of Object.keys(definition.roles ?? { [SINGLE_AGENT]: {} })) totals.set(role, 0);
  const task = await taskById(planted.tasks, id ?? "train/0");
  let observation = await session.reset({ signal, seed, ...(id === undefined ? {} : { task: id }) });
  for (let turn = 0; observation.agent !== ""; turn++) {
    if (turn === MOST_TURNS) throw new Error(`${definition.id} has an episode without an end`);
    const { agent } = observation;
    const script = players[roleOf(agent)];
    const history = histories.get(agent) ?? [];
    histories.set(agent, history);
    let message: Message;
    if (script === undefined) {
      const response = player({ observation, history: [...history], turn, task });
      message = typeof response === "string" ? textMessage("assistant", response) : response;
    } else {
      const { scripted: name, options: given } = script;
      const policy =
        scripted.get(agent) ??
        (await host.scripted(
          { id: definition.id },
          { name, seed, ...(given === undefined ? {} : { options: given }) },
        ));
      scripted.set(agent, policy);
      ({ message } = await policy.act(observation, { signal }));
    }
    history.push(...observation.messages, message);
    const step = session.step({ agent, message, finishReason: "stop" }, { signal });
    const result = await (options.isFailureUnscored === true ? step.catch(() => undefined) : step);
    if (result === undefined) return undefined;
    for (const [earner, reward] of Object.entries(result.rewards)) {
      if (reward.scored) totals.set(earner, (totals.get(earner) ?? 0) + reward.value);
      else if (players[roleOf(earner)] === undefined) isScored = false;
    }
    ({ observation } = result);
  }
  const own = [...totals].filter(([agent]) => players[roleOf(agent)] === undefined);
  return isScored ? Object.fromEntries(own) : undefined;
}

/** Returns how many different tasks the splits have. */
export async function countTasks({ tasks }: Planted): Promise<number> {
  const different = new Set<string>();
  for (const [split, size] of Object.entries(tasks.splits)) {
    for (let index = 0; index < size; index++) {
      const { public: shown, private: hidden } = await tasks.get(split, index);
      different.add(JSON.stringify([shown, hidden]));
    }
  }
  return different.size;
}

/** Rewards of a player over several tasks. */
interface Earned {
  /** Mean over the scored episodes; each counts the mean of its agents. */
  readonly mean: number;
  /** Share of all episodes with the top reward. */
  readonly topShare: number;
  /** Share of all episodes that were unscored or failed. */
  readonly unscoredShare: number;
}

/** Plays one episode of each task. A failed episode counts as unscored. */
export async function earn(
  planted: Planted,
  tasks: readonly string[],
  playerOf: (index: number) => Player,
): Promise<Earned> {
  const top = topReward(planted);
  const values: (number | undefined)[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    const session = await planted.host.open({ id: planted.definition.id });
    while (next < tasks.length) {
      const index = next++;
      const options = { task: tasks[index] as string, seed: index, player: playerOf(index), isFailureUnscored: true };
      const totals = await playIn(session, planted, options);
      values[index] = totals && meanOf(Object.values(totals));
    }
    await session.close();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const scored = values.filter((value) => value !== undefined);
  return {
    mean: meanOf(scored),
    topShare: scored.filter((value) => value >= top - 1e-9).length / tasks.length,
    unscoredShare: 1 - scored.length / tasks.length,
  };
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
