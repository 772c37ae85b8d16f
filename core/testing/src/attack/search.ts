import type { Message } from "@mrlm/spec";
import { messageText, textMessage } from "@mrlm/kit";
import type { Act, Arena, Episode } from "./arena.ts";
import { type Baselines, meanOf, playBaselines, playGold } from "./baselines.ts";
import { DistinctPrograms, inSequence, inTurn, type Program } from "./program.ts";
import { interleave } from "./orders.ts";
import { programsOf } from "./programs.ts";
import type { Literals } from "./source-literals.ts";
import { FAMILIES, type Family } from "./text.ts";
import { probeCalls } from "./tool-programs.ts";
import { isInherited, isSolution, isTop, type Reason, reasonOf } from "./verdict.ts";

/** Limits of a search. */
export interface AttackLimits {
  /** Number of episodes, those of the baselines included. */
  readonly episodes: number;
  /** Returns whether the search must stop early. */
  readonly isLate?: () => boolean;
  /** Messages of a trained model in paid episodes: each is tried as a program. */
  readonly learnt?: readonly (readonly Message[])[];
  /** Families that are left out. */
  readonly without?: readonly Family[];
}

/** Program that was chosen on some tasks, with its episodes in others. */
export interface Attack {
  readonly program: Program;
  readonly reason: Reason;
  readonly episodes: readonly Episode[];
}

/** Outcome of a search. */
export interface SearchResult {
  readonly baselines: Baselines;
  /** Findings: the first program that earns, and the first one that ends unscored. */
  readonly attacks: readonly Attack[];
  /** Best mean of a program that was played on several tasks and is no finding. */
  readonly best: { readonly program: Program; readonly mean: number } | undefined;
  /** Families of which programs were left untried, with their number. */
  readonly untried: ReadonlyMap<Family, number>;
}

/** Most tasks on which a program is chosen, and on which it is confirmed. */
const MOST_TASKS = 100;
const BATCH = 96;
/** Episodes after which a program continues, with the least part of the way to gold, or of top rewards. */
const STAGES = [
  { episodes: 1, way: 0.25, top: 0.2 },
  { episodes: 5, way: 0.3, top: 0.2 },
  { episodes: 20, way: 0.4, top: 0.2 },
] as const;
/** Programs of which others are made, and how many of these are kept. */
const PARENTS = 8;
const SEPARATORS = ["\n", " "] as const;

/** Program with its episodes in the first tasks, in their order. */
interface Standing {
  readonly program: Program;
  readonly episodes: Episode[];
  isDone: boolean;
}

/** Searches a program that earns without solving. The same limits give the same result on every machine. */
export async function searchPrograms(arena: Arena, literals: Literals, limits: AttackLimits): Promise<SearchResult> {
  const count = Math.min(MOST_TASKS, arena.half, Math.max(10, Math.floor(limits.episodes / 20)));
  const baselines = await playBaselines(arena, Math.min(24, count));
  const probe = await probeCalls(arena, baselines, Math.floor(limits.episodes / 20));
  const views = [...baselines.views, ...probe.views];
  const byFamily = programsOf({ ...baselines, views }, literals, probe, limits.learnt);
  const families = FAMILIES.filter((family) => limits.without?.includes(family) !== true);
  const distinct = new DistinctPrograms([
    ...baselines.views.filter(({ turn }) => turn === 0).slice(0, 6),
    ...sampleOf(
      views.filter(({ turn }) => turn > 0),
      8,
    ),
  ]);
  const programs = interleave(families.map((family) => byFamily.get(family) ?? []));
  const search = new Search(arena, limits, baselines, count, distinct);
  await search.run(programs);
  return search.result();
}

function sampleOf<T>(items: readonly T[], count: number): T[] {
  const stride = Math.max(1, Math.floor(items.length / count));
  return items.filter((_, i) => i % stride === 0).slice(0, count);
}

class Search {
  readonly #arena: Arena;
  readonly #limits: AttackLimits;
  readonly #baselines: Baselines;
  readonly #count: number;
  readonly #distinct: DistinctPrograms;
  readonly #standings: Standing[] = [];
  readonly #untried = new Map<Family, number>();
  #attack: Attack | undefined;
  /** A program whose episodes end unscored. The search continues: one that earns is the worse fault. */
  #escape: Attack | undefined;

  constructor(arena: Arena, limits: AttackLimits, baselines: Baselines, count: number, distinct: DistinctPrograms) {
    this.#distinct = distinct;
    this.#arena = arena;
    this.#limits = limits;
    this.#baselines = baselines;
    this.#count = count;
  }

  /** Tries all programs on one task, then what is made of the best, and again on further tasks until the budget ends. */
  async run(programs: readonly Program[]): Promise<void> {
    await this.#enter(programs, 0.7);
    for (let round = 1; !this.#isOver(1) && round <= this.#count; round++) {
      const before = this.#arena.spent;
      await this.#enter(this.#childrenOf(), 1);
      // Programs that a first task did not show get a second and a third.
      const waiting = this.#standings.filter(({ episodes, isDone }) => !isDone && episodes.length <= round);
      await this.#advance(waiting, 1);
      if (this.#arena.spent === before && round > 5) break;
    }
    await this.#complete();
  }

  result(): SearchResult {
    const [best] = this.#standings
      .filter(
        ({ episodes, program }) => episodes.length >= Math.min(20, this.#count) && program !== this.#attack?.program,
      )
      .toSorted((one, other) => meanOf(other.episodes) - meanOf(one.episodes));
    return {
      baselines: this.#baselines,
      attacks: [this.#attack, this.#escape].filter((attack) => attack !== undefined),
      best: best && { program: best.program, mean: meanOf(best.episodes) },
      untried: this.#untried,
    };
  }

  #isOver(part: number): boolean {
    return (
      this.#attack !== undefined ||
      this.#arena.spent >= this.#limits.episodes * part ||
      this.#limits.isLate?.() === true
    );
  }

  /** Plays new programs in batches. Those that the budget leaves out are counted. */
  async #enter(programs: readonly Program[], part: number): Promise<void> {
    for (let next = 0; next < programs.length;) {
      if (this.#isOver(part)) {
        for (const { family } of programs.slice(next)) this.#untried.set(family, (this.#untried.get(family) ?? 0) + 1);
        return;
      }
      const entered: Standing[] = [];
      for (; next < programs.length && entered.length < BATCH; next++) {
        const program = programs[next] as Program;
        if (this.#distinct.isNew(program)) entered.push({ program, episodes: [], isDone: false });
      }
      this.#standings.push(...entered);
      await this.#advance(entered, part);
    }
  }

  /** Plays one more task with each program, and continues with those that earn. */
  async #advance(standings: readonly Standing[], part: number): Promise<void> {
    for (let start = 0; start < standings.length && !this.#isOver(part); start += BATCH) {
      const batch = standings.slice(start, start + BATCH).filter(({ episodes }) => episodes.length < this.#count);
      await this.#extend(batch, (standing) => standing.episodes.length + 1);
      let alive: readonly Standing[] = batch;
      for (const { episodes, way, top } of STAGES) {
        const next = Math.min(this.#count, STAGES.find((stage) => stage.episodes > episodes)?.episodes ?? this.#count);
        alive = this.#affordable(
          alive.filter((standing) => !standing.isDone && this.#isPromising(standing, way, top)),
          next,
        );
        await this.#extend(alive, () => next);
      }
      for (const standing of alive.toSorted(byClarity)) if (!this.#isOver(2)) await this.#confirm(standing);
    }
  }

  /** Returns the best programs whose further episodes the budget allows; at least one. */
  #affordable(standings: readonly Standing[], length: number): readonly Standing[] {
    let left = this.#limits.episodes - this.#arena.spent;
    return standings
      .toSorted((one, other) => meanOf(other.episodes) - meanOf(one.episodes))
      .filter(({ episodes }, i) => {
        left -= Math.max(0, length - episodes.length);
        return i === 0 || left >= 0;
      });
  }

  async #extend(standings: readonly Standing[], lengthOf: (standing: Standing) => number): Promise<void> {
    const jobs = standings.flatMap((standing) =>
      Array.from({ length: Math.max(0, lengthOf(standing) - standing.episodes.length) }, (_, i) => ({
        act: actOfProgram(standing.program),
        index: standing.episodes.length + i,
        standing,
      })),
    );
    const episodes = await this.#arena.playAll(jobs);
    for (const [i, { standing }] of jobs.entries()) standing.episodes.push(episodes[i] as Episode);
  }

  /** Returns the part of the way from the baselines to gold. */
  #wayOf({ episodes }: Pick<Standing, "episodes">): number {
    const { base, gold } = this.#baselines;
    return gold > base ? (meanOf(episodes) - base) / (gold - base) : 0;
  }

  #isPromising(standing: Standing, way: number, top: number): boolean {
    const { episodes } = standing;
    const isEscape = !this.#baselines.isUnscored && this.#escape === undefined;
    const hits = episodes.filter((episode) => isTop(episode, this.#baselines.top)).length;
    const lost = isEscape ? episodes.filter((episode) => episode.isUnscored).length : 0;
    return this.#wayOf(standing) >= way || Math.max(hits, lost) / episodes.length >= top;
  }

  /** Compares a program that was chosen on its tasks with gold on as many others. */
  async #confirm(standing: Standing): Promise<void> {
    const { program, episodes } = standing;
    if (standing.isDone || episodes.length < this.#count) return;
    standing.isDone = true;
    const { among } = program;
    if (reasonOf(episodes, this.#baselines, among) === undefined) return;
    const first = Math.min(this.#count, this.#arena.size - this.#count);
    const indices = Array.from({ length: this.#count }, (_, i) => first + i);
    const others = await this.#arena.playAll(indices.map((index) => ({ act: actOfProgram(program), index })));
    const reason = reasonOf(others, this.#baselines, among);
    if (reason === undefined) return;
    if (reason === "unscored") {
      if (!isInherited(others)) this.#escape ??= { program, reason, episodes: others };
      return;
    }
    const golden = await playGold(this.#arena, this.#baselines.act, indices);
    // Episodes in which the program does what gold does do not count.
    const { base } = this.#baselines;
    const turns = [...golden.values()].flat().flatMap((episode) => episode.turns);
    const vocabulary = [...new Set(turns.map(({ message }) => messageText(message)))];
    const solved = others.map(
      (episode, i) => golden.get(first + i)?.some((gold) => isSolution(episode, gold, vocabulary)) === true,
    );
    // Tasks without a worked solution do not count if the solutions of others are longer than what the fixture does.
    const isShown = [...golden.values()].some(
      ([fixture, solution]) => (solution?.turns.length ?? 0) > (fixture?.turns.length ?? 0),
    );
    const counted = indices.map((index) => !isShown || golden.get(index)?.length === 2);
    const rest = others
      .map((episode, i) => (solved[i] === true ? { ...episode, total: Math.min(base, episode.total) } : episode))
      .filter((_, i) => counted[i]);
    if (reasonOf(rest, this.#baselines, among) === undefined) {
      this.#standings.splice(this.#standings.indexOf(standing), 1);
      return;
    }
    this.#attack = { program, reason, episodes: others };
  }

  /** Returns new programs that are made of the best: joined, in turn, in other slots, repeated. */
  #childrenOf(): Program[] {
    const parents = this.#standings
      .filter((standing) => standing.episodes.length > 0 && this.#wayOf(standing) > 0.02)
      .toSorted((one, other) => this.#wayOf(other) - this.#wayOf(one) || other.episodes.length - one.episodes.length)
      .slice(0, 3 * PARENTS);
    // The best of each family comes first: two of one family often earn for the same reason.
    const seen = new Set<Family>();
    const first = parents.filter(({ program: { family } }) => !seen.has(family) && seen.add(family));
    const chosen = [...new Set([...first, ...parents])].slice(0, PARENTS).map(({ program }) => program);
    const turns = this.#baselines.views.some(({ turn }) => turn > 0) ? [1, 2, 3, 4] : [];
    const pairs = chosen.flatMap((one) =>
      chosen.filter((other) => other !== one).map((other) => [one, other] as const),
    );
    return [
      ...pairs.flatMap(([one, other]) => [
        ...SEPARATORS.map((separator) => inSequence(one, other, separator)),
        ...turns.map((count) => inTurn(one.family, [...Array.from({ length: count }, () => one), other])),
      ]),
      ...chosen.map((one) => inSequence(one, one, "\n")),
    ];
  }

  /** Plays the best programs on enough tasks for a mean that is worth a line. */
  async #complete(): Promise<void> {
    const best = this.#standings
      .filter(({ episodes }) => episodes.length > 0)
      .toSorted((one, other) => meanOf(other.episodes) - meanOf(one.episodes))
      .slice(0, 3);
    if (this.#attack === undefined) await this.#extend(best, () => Math.min(20, this.#count));
  }
}

/** Orders programs that earn the same: the earlier family first, then the fewer words. */
function byClarity(one: Standing, other: Standing): number {
  const rank = ({ program: { family } }: Standing): number => FAMILIES.indexOf(family);
  return (
    meanOf(other.episodes) - meanOf(one.episodes) ||
    rank(one) - rank(other) ||
    one.program.words.length - other.program.words.length
  );
}

/** Returns the player of a program, which writes nothing where it does not apply. */
function actOfProgram(program: Program): Act {
  return (view) => program.act(view) ?? textMessage("assistant", "");
}
