import {
  type Demonstration,
  type EnvironmentDefinition,
  type Fixture,
  isObject,
  type JsonObject,
  type Message,
  MrlmError,
} from "@mrlm/spec";
import { messageText, textMessage, toolCalls } from "@mrlm/kit";
import { rewardRangeOf } from "../contract/reward-range.ts";
import { type Act, actOf, type Arena, type Episode, keyOf, type PlayedTurn, optionsKey, randomAct } from "./arena.ts";
import { languageOf } from "./code-texts.ts";
import { type Frame, framesOf } from "./frames.ts";
import { isTop, type Scale } from "./verdict.ts";
import { View } from "./view.ts";

/** Measurements before a search: rewards of gold, of nothing and of a random player, and the form of gold. */
export interface Baselines extends Scale {
  readonly nop: number;
  readonly random: number;
  /** Messages of gold by task, in order. */
  readonly paths: readonly (readonly Message[])[];
  /** Forms of the last message of gold, those that keep its reward first. */
  readonly frames: readonly Frame[];
  /** Turns of gold by agent. */
  readonly byAgent: ReadonlyMap<string, readonly PlayedTurn[]>;
  readonly views: readonly View[];
  /** Plays as gold does. */
  readonly act: Act;
}

/** Tasks that show the form of gold. */
const SHOWN = 12;
const EPSILON = 1e-9;

/** Chooses the gold fixture that is attacked: one against scripted players where there are several roles, and one without options of its own. Zero-sum games without one get scripted players. */
export function fixtureToAttack({
  fixtures = [],
  roles = {},
  scriptedPolicies = {},
}: EnvironmentDefinition): Fixture | undefined {
  const gold = fixtures.filter(({ kind }) => kind === "gold");
  const hasPlayers = ({ players = {} }: Fixture): boolean => Object.keys(players).length > 0;
  // A fixture of roles that depend on options states all that is needed.
  const several = typeof roles !== "function" && Object.keys(roles).length > 1;
  const rank = (fixture: Fixture): number =>
    (several && !hasPlayers(fixture) ? 2 : 0) + (fixture.options === undefined ? 0 : 1);
  const [first] = gold.toSorted((one, other) => rank(one) - rank(other));
  const [script] = Object.keys(scriptedPolicies);
  if (first === undefined || !several || hasPlayers(first) || script === undefined || !isObject(first.reward))
    return first;
  const rewards = Object.values(first.reward) as number[];
  const isZeroSum =
    Math.abs(rewards.reduce((sum, each) => sum + each, 0)) < EPSILON && rewards.some((each) => each !== 0);
  if (!isZeroSum) return first;
  const [winner = ""] = Object.entries(first.reward).find(([, each]) => each > 0) ?? [];
  const players = Object.fromEntries(
    Object.keys(roles)
      .filter((role) => role !== winner)
      .map((role) => [role, { scripted: script }]),
  );
  return { ...first, players };
}

/** Plays the baselines on the first tasks. */
export async function playBaselines(arena: Arena, count: number): Promise<Baselines> {
  const { subject, fixture } = arena;
  const act = actOf(fixture);
  const indices = Array.from({ length: Math.min(count, arena.size) }, (_, index) => index);
  const play = (actIn: (index: number) => Act): Promise<Episode[]> =>
    arena.playAll(indices.map((index) => ({ act: actIn(index), index })));
  const golden = await play(() => act);
  const nops = subject.fixtures.filter(({ kind }) => kind === "nop");
  const nop = nops.find(({ options }) => optionsKey(options) === optionsKey(fixture.options)) ?? nops[0];
  const silent: Act = nop === undefined ? () => textMessage("assistant", "") : actOf(nop);
  const nothing = await play(() => silent);
  const random = await play(randomAct);
  const stated = typeof fixture.reward === "object" ? Math.max(...Object.values(fixture.reward)) : fixture.reward;
  const [, end] = await rewardRangeOf(subject.definition, subject.ref(fixture.options).options);
  const reached = Math.max(...golden.map(({ total }) => total));
  const known = stated ?? (Number.isFinite(end) ? end : reached);
  // A gold fixture that solves its own task only may be below the most that can be earned.
  const most = Number.isFinite(end) ? Math.max(end, known) : known;
  // A fixture that knows one task only earns its reward in few others.
  const right = golden.filter(({ total }) => total >= known - EPSILON);
  const isGeneral = right.length * 2 > golden.length || meanOf(golden) > (known + meanOf(nothing)) / 2;
  const own = isGeneral ? golden.filter(({ total }) => total >= meanOf(golden) - EPSILON) : [];
  const paths = own.slice(0, SHOWN).map(({ turns }) => turns.map(({ message }) => message));
  const solutions = await demonstrated(arena);
  const shown = [...paths, ...solutions.map(({ messages }) => messages.filter(({ role }) => role === "assistant"))];
  if (shown.length === 0) shown.push(...writtenBy(subject.fixtures, fixture));
  const last = framesOf(shown.flatMap((path) => path.slice(-1)));
  const kept = (await keeping(arena, last, act, isGeneral)).slice(0, 3);
  const isCode = languageOf(finalTexts(shown)) !== undefined;
  // The form of a program with several slots is its solution.
  const frames = kept.filter(({ slots }) => !isCode || slots === 1);
  const top = isGeneral ? Math.max(known, reached) : most;
  return {
    gold: isGeneral ? meanOf(golden) : most,
    top,
    nop: meanOf(nothing),
    random: meanOf(random),
    base: Math.max(meanOf(nothing), meanOf(random)),
    randomShare: random.filter((episode) => isTop(episode, top)).length / random.length,
    isUnscored: [...golden, ...nothing].some((episode) => episode.isUnscored),
    paths: shown,
    frames,
    byAgent: Map.groupBy(
      golden.flatMap(({ turns }) => turns),
      ({ agent }) => agent,
    ),
    views: [...golden, ...nothing].flatMap(({ turns }) => turns.slice(0, 4).map(({ view }) => view)),
    act,
  };
}

export function meanOf(episodes: readonly Episode[]): number {
  const scored = episodes.filter(({ isUnscored }) => !isUnscored);
  return scored.reduce((sum, { total }) => sum + total, 0) / Math.max(1, scored.length);
}

/** Returns worked solutions of tasks of the split `train`; none where one cannot be made. */
async function demonstrate({ subject, fixture }: Arena, ids: readonly string[]): Promise<readonly Demonstration[]> {
  const { hasDemonstrations } = await subject.describe(fixture.options);
  if (!hasDemonstrations) return [];
  try {
    return await subject.host.demonstrate(subject.ref(fixture.options), ids);
  } catch (error) {
    if (MrlmError.isInstance(error)) return [];
    throw error;
  }
}

/** Returns worked solutions of the first tasks. */
async function demonstrated(arena: Arena): Promise<readonly Demonstration[]> {
  const { splits } = await arena.subject.describe(arena.fixture.options);
  return demonstrate(
    arena,
    Array.from({ length: Math.min(SHOWN, splits["train"] ?? 0) }, (_, index) => `train/${index}`),
  );
}

/** Returns the first messages of gold fixtures whose policies know their own task alone. */
function writtenBy(fixtures: readonly Fixture[], { options }: Fixture): Message[][] {
  const view = new View([], [], "agent");
  const at = { task: { id: "", public: {}, private: {} }, agent: "agent", episodeTurn: 0 };
  return fixtures
    .filter((each) => each.kind === "gold" && optionsKey(each.options) === optionsKey(options))
    .map((fixture) => [actOf(fixture)(view, at)]);
}

/** Sorts forms: first those in which gold's own slots earn what gold earns. The others are left out where one does. */
async function keeping(
  arena: Arena,
  frames: readonly Frame[],
  act: Act,
  isGeneral: boolean,
): Promise<readonly Frame[]> {
  if (!isGeneral) return frames;
  const kept: Frame[] = [];
  for (const frame of frames) {
    const framed: Act = (view, at) => {
      const message = act(view, at);
      const slots = frame.read(message);
      return slots === undefined ? message : frame.fill(slots);
    };
    const jobs = [0, 1, 2].filter((index) => index < arena.size);
    const [golden, same] = [
      await arena.playAll(jobs.map((index) => ({ act, index }))),
      await arena.playAll(jobs.map((index) => ({ act: framed, index }))),
    ];
    if (meanOf(same) >= meanOf(golden) - EPSILON) kept.push(frame);
  }
  return kept.length > 0 ? kept : frames;
}

/** Returns the texts that gold writes, or the arguments of its calls, at the end of each path. */
export function finalTexts(paths: readonly (readonly Message[])[]): string[] {
  return [
    ...new Set(
      paths.flatMap((path) =>
        path.slice(-1).map((message) => (toolCalls(message).length > 0 ? keyOf(message) : messageText(message))),
      ),
    ),
  ];
}

/** Returns the arguments with which gold calls each tool. */
export function argumentsOf(paths: readonly (readonly Message[])[]): ReadonlyMap<string, readonly JsonObject[]> {
  const calls = Map.groupBy(paths.flat().flatMap(toolCalls), ({ name }) => name);
  return new Map([...calls].map(([name, all]) => [name, all.map((call) => call.arguments)]));
}

/** Returns episodes of gold in tasks, by index: of the fixture, and worked solutions. */
export async function playGold(
  arena: Arena,
  act: Act,
  indices: readonly number[],
): Promise<ReadonlyMap<number, readonly Episode[]>> {
  const episodes = await arena.playAll(indices.map((index) => ({ act, index })));
  const ids = await Promise.all(indices.map(async (index) => (await arena.task(index)).id));
  const solutions = await demonstrate(
    arena,
    ids.filter((id) => id.startsWith("train/")),
  );
  const byId = new Map(solutions.map((solution) => [solution.task, episodeOf(solution)]));
  return new Map(
    indices.map((index, i) => {
      const solution = byId.get(ids[i] ?? "");
      return [index, [episodes[i] as Episode, ...(solution === undefined ? [] : [solution])]];
    }),
  );
}

function episodeOf({ messages, tools = [], agent }: Demonstration): Episode {
  const turns = messages.flatMap((message, i) =>
    message.role === "assistant" ? [{ agent, message, view: new View(messages.slice(0, i), tools, agent) }] : [],
  );
  return { total: 0, isUnscored: false, turns };
}
