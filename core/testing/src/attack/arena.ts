import {
  type Action,
  type AgentId,
  defined,
  type Fixture,
  type JsonObject,
  type Message,
  roleOf,
  type Task,
  type ToolDefinition,
} from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { randomStream, textMessage } from "@mrlm/kit";
import { never, scriptedPlayer } from "../contract/play.ts";
import type { Subject } from "../contract/subject.ts";
import { View } from "./view.ts";

/** Chooses a message. Programs read the view only; the players of fixtures read the task too. */
export type Act = (
  view: View,
  at: { readonly task: Task; readonly agent: AgentId; readonly episodeTurn: number },
) => Message;

/** Turn of an attacked agent. */
export interface PlayedTurn {
  readonly agent: AgentId;
  readonly view: View;
  readonly message: Message;
}

/** Outcome of an episode for the attacked agents. */
export interface Episode {
  /** Mean of their totals. */
  readonly total: number;
  /** Whether a reward of them could not be computed, or a step failed. */
  readonly isUnscored: boolean;
  readonly turns: readonly PlayedTurn[];
}

/** Episodes that are played at once: sandboxes have several children. */
const LANES = 6;
/** Turns after which an episode without an end counts as it is. */
const MOST_TURNS = 60;
/** Fewest tasks of a search: fewer allow no conclusion. */
export const FEWEST_TASKS = 10;
/** Tasks among which the order is drawn. */
const MOST_TASKS = 2_000;

/** Task of an episode, with what has been played of it. */
interface Board {
  readonly id: string | undefined;
  readonly seed: number;
  readonly root: Node;
  task?: Task;
}

/** Known moment of an episode: a turn of an attacked agent, or the end. */
interface Node {
  view?: View;
  agent?: AgentId;
  episodeTurn?: number;
  episode?: Episode;
  readonly next: Map<string, Node>;
}

/** Plays episodes with programs in the roles that the gold fixture's own policy plays. Equal episodes are played once where the environment is deterministic. */
export class Arena {
  readonly subject: Subject;
  readonly fixture: Fixture;
  /** Number of tasks; `Infinity` for an environment without tasks. */
  readonly size: number;
  /** Episodes that have been played. */
  spent = 0;
  readonly #ids: readonly string[];
  readonly #boards = new Map<number, Board>();
  readonly #isKept: boolean;
  readonly #hasSeed: boolean;
  readonly #sessions: EnvironmentSession[] = [];

  private constructor(subject: Subject, fixture: Fixture, ids: readonly string[], determinism: string) {
    this.subject = subject;
    this.fixture = fixture;
    this.#ids = ids;
    this.size = ids.length === 0 ? Number.POSITIVE_INFINITY : ids.length;
    this.#isKept = determinism === "full";
    this.#hasSeed = determinism !== "none";
  }

  static async of(subject: Subject, fixture: Fixture): Promise<Arena> {
    const { options } = fixture;
    const { determinism, splits } = await subject.describe(options);
    const ids = ["train", "eval"].flatMap((split) =>
      Array.from({ length: Math.min(MOST_TASKS, splits[split] ?? 0) }, (_, index) => `${split}/${index}`),
    );
    return new Arena(subject, fixture, randomStream("tasks of the attack", 0).shuffle(ids), determinism);
  }

  /** Number of tasks on which a program is chosen: half of them, or all where half are too few. The others confirm it. */
  get half(): number {
    return this.size < 2 * FEWEST_TASKS ? this.size : Math.floor(this.size / 2);
  }

  /** Plays jobs, and returns their episodes in the same order. */
  async playAll(jobs: readonly { readonly act: Act; readonly index: number }[]): Promise<Episode[]> {
    const episodes: Episode[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < jobs.length) {
        const i = next++;
        const { act, index } = jobs[i] as (typeof jobs)[number];
        episodes[i] = await this.#play(act, index);
      }
    };
    await Promise.all(Array.from({ length: Math.min(LANES, jobs.length) }, lane));
    return episodes;
  }

  async task(index: number): Promise<Task> {
    const board = this.#board(index);
    board.task ??= await this.subject.task(board.id ?? "", this.fixture.options);
    return board.task;
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.splice(0).map((session) => session.close()));
  }

  #board(index: number): Board {
    const board = this.#boards.get(index) ?? {
      id: this.#ids[index],
      seed: index,
      root: { next: new Map<string, Node>() },
    };
    this.#boards.set(index, board);
    return board;
  }

  async #play(act: Act, index: number): Promise<Episode> {
    const board = this.#board(index);
    const task = await this.task(index);
    let node: Node | undefined = board.root;
    while (this.#isKept && node?.view !== undefined) {
      const { view, agent = "", episodeTurn = 0 }: Node = node;
      node = node.next.get(keyOf(actIn(act, view, { task, agent, episodeTurn })));
    }
    if (this.#isKept && node?.episode !== undefined) return node.episode;
    this.spent++;
    const session = this.#sessions.pop() ?? (await this.#open());
    const { episode, isUsable } = await this.#run(session, act, board, task);
    if (isUsable) this.#sessions.push(session);
    else await session.close().catch(() => undefined);
    return episode;
  }

  #open(): Promise<EnvironmentSession> {
    return this.subject.host.open(this.subject.ref(this.fixture.options));
  }

  /** Plays an episode on a session. One whose step failed is not used again. */
  async #run(
    session: EnvironmentSession,
    act: Act,
    { id, seed, root }: Board,
    task: Task,
  ): Promise<{ episode: Episode; isUsable: boolean }> {
    const { options, players = {} } = this.fixture;
    const scripted = scriptedPlayer(this.subject, (role) => players[role], options, seed);
    const conversations = new Map<AgentId, { messages: readonly Message[]; tools: readonly ToolDefinition[] }>();
    const totals = new Map<AgentId, number>();
    const turns: PlayedTurn[] = [];
    let isUnscored = false;
    let node = root;
    const end = (failed: boolean): { episode: Episode; isUsable: boolean } => {
      const own = [...totals].filter(([agent]) => players[roleOf(agent)] === undefined);
      const total = own.reduce((sum, [, each]) => sum + each, 0) / Math.max(1, own.length);
      const episode = { total, isUnscored: isUnscored || failed, turns };
      if (this.#isKept) node.episode = episode;
      return { episode, isUsable: !failed && observation.agent === "" };
    };
    let observation = await session.reset({
      ...defined({ task: id }),
      ...(this.#hasSeed && { seed }),
      signal: never,
    });
    for (let episodeTurn = 0; observation.agent !== "" && episodeTurn < MOST_TURNS; episodeTurn++) {
      const { agent, messages: shown, isFresh = false } = observation;
      const before = conversations.get(agent);
      const tools = observation.tools ?? before?.tools ?? [];
      const messages = [...(isFresh ? [] : (before?.messages ?? [])), ...shown];
      let action: Action;
      if (players[roleOf(agent)] === undefined) {
        const view = node.view ?? new View(messages, tools, agent);
        Object.assign(node, { view, agent, episodeTurn });
        action = { agent, message: actIn(act, view, { task, agent, episodeTurn }), finishReason: "stop" };
        turns.push({ agent, view, message: action.message });
        totals.set(agent, totals.get(agent) ?? 0);
        if (this.#isKept) node = childOf(node, keyOf(action.message));
        else node = { next: new Map() };
      } else action = await scripted(observation, { steps: [], messages });
      conversations.set(agent, { messages: [...messages, action.message], tools });
      const result = await session.step(action, { signal: never }).catch(() => undefined);
      if (result === undefined) return end(true);
      for (const [earner, reward] of Object.entries(result.rewards)) {
        if (reward.scored) totals.set(earner, (totals.get(earner) ?? 0) + reward.value);
        else isUnscored ||= players[roleOf(earner)] === undefined;
      }
      ({ observation } = result);
    }
    return end(false);
  }
}

/** Chooses a message, whose calls get ids that no other message of the agent has. */
function actIn(act: Act, view: View, at: Parameters<Act>[1]): Message {
  const message = act(view, at);
  const parts = message.parts.map((part, i) =>
    part.type === "tool-call" ? { ...part, id: `t${view.turn}c${i}` } : part,
  );
  return { ...message, parts };
}

function childOf(node: Node, key: string): Node {
  const child = node.next.get(key) ?? { next: new Map<string, Node>() };
  node.next.set(key, child);
  return child;
}

/** Returns a key of a message: its text, or its parts. */
export function keyOf({ parts }: Message): string {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" ? first.text : JSON.stringify(parts);
}

/** Returns the player of a fixture's policy. A policy that throws or returns nothing for another task than its own writes nothing. */
export function actOf({ policy }: Pick<Fixture, "policy">): Act {
  return ({ messages }, { task, agent, episodeTurn }) => {
    try {
      const response: Message | string | undefined = policy({
        agent,
        role: roleOf(agent),
        messages,
        turn: episodeTurn,
        task,
      });
      return typeof response === "object" ? response : textMessage("assistant", response ?? "");
    } catch {
      return textMessage("assistant", "");
    }
  };
}

/** Returns a player that writes digits, letters or words that it has read. */
export function randomAct(seed: number): Act {
  return (view) => {
    const random = randomStream(`random player ${view.turn}`, seed);
    const words = view.text("latest").split(/\s+/).filter(Boolean);
    const digits = String(random.integer(0, 99));
    const letters = Array.from({ length: random.integer(1, 4) }, () => random.pick([..."abcdefghijklmnop"])).join("");
    return textMessage(
      "assistant",
      random.pick([digits, letters, ...(words.length === 0 ? [] : [random.pick(words)])]),
    );
  };
}

/** Returns the options of a fixture as a key. */
export function optionsKey(options: JsonObject | undefined): string {
  return JSON.stringify(options ?? {});
}
