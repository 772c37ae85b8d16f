import type { EpochOrder } from "@mrlm/kit/learning";
import { z } from "zod";
import type { ResolvedStage } from "../../config/resolve-config.ts";
import { CreditTurns } from "./credit-turns.ts";
import {
  decayed,
  type Evidence,
  meanOf,
  NO_EVIDENCE,
  placementOf,
  type Placement,
  posteriorOf,
  type Prior,
  priorOf,
  UNIFORM,
} from "./pass-rate.ts";

/** Section `curriculum` of a stage. */
export type CurriculumSettings = NonNullable<ResolvedStage["curriculum"]>;

/** Result of a group of one task. */
export interface Outcome {
  /** Index of the task in its split. */
  readonly task: number;
  /** Sum of the rates of the scored episodes, each in [0, 1]. */
  readonly passes: number;
  /** Number of scored episodes. */
  readonly trials: number;
  /** Difficulty that the environment states. */
  readonly level?: number;
}

/** `stale`: less than one episode of evidence is left. */
type Pool = keyof Placement | "stale";

/** Turns of the draws, in the order of their shares. `new`: tasks that were never drawn. */
const TURNS = ["active", "new", "stale", "hard"] as const;
/** Part of the share of fresh tasks that measures again. */
const STALE_PART = 0.2;

interface Entry extends Evidence {
  readonly task: number;
  readonly level: number | undefined;
  /** Number of its last draw, among those of the pool. */
  readonly drawn: number;
  /** Draws without a result. */
  readonly underWay: number;
  /** Whether the rate of one of its groups was in the range of admission or above. */
  readonly wasReached: boolean;
  readonly pool: Pool;
}

/** Pools in place of one that has no task. */
const FALLBACKS = ["active", "new", "stale", "hard", "easy"] as const;
/** Largest number of draws of a task, relative to an order without a curriculum. */
const MOST_OFTEN = 4;

const numbers = z.array(z.number());

/** State of a pool. Tasks are in columns. */
export const poolState = z.object({
  turns: numbers,
  draws: z.int(),
  progress: z.object({ sum: z.number(), weight: z.number(), at: z.int() }),
  tasks: z.object({
    task: numbers,
    level: z.array(z.number().nullable()),
    passes: numbers,
    trials: numbers,
    at: numbers,
    drawn: numbers,
    underWay: numbers,
    wasReached: z.array(z.boolean()),
  }),
});

export type PoolState = z.output<typeof poolState>;

/**
 * Tasks of one environment by measured pass rate. A task is active, easy or hard by the most probable place of its rate relative to the range of admission. Only tasks that
 * were drawn are in memory.
 */
export class TaskPool {
  readonly #order: EpochOrder;
  readonly #size: number;
  readonly #settings: CurriculumSettings;
  readonly #rest: number;
  readonly #turns: CreditTurns;
  readonly #tasks = new Map<number, Entry>();
  /** Expected pass rates by level. */
  #priors = new Map<number | undefined, Prior>();
  #draws = 0;
  /** Weighted sum of the differences between the rate of a group and the one expected of its task, and of their weights. */
  #progress = { sum: 0, weight: 0, at: 0 };

  /**
   * @param order of the tasks that were never drawn
   * @param batch groups of a batch
   */
  constructor(order: EpochOrder, size: number, settings: CurriculumSettings, batch: number) {
    const { fresh, hard, half_life } = settings;
    this.#rest = Math.min(size / MOST_OFTEN, (half_life / 2) * batch);
    this.#order = order;
    this.#size = size;
    this.#settings = settings;
    this.#turns = new CreditTurns([1 - fresh - hard, (1 - STALE_PART) * fresh, STALE_PART * fresh, hard]);
  }

  /** Mean change of the rate of a task between two measurements. */
  get progress(): number {
    const { sum, weight } = this.#progress;
    return weight === 0 ? 0 : sum / weight;
  }

  /** Number of measured tasks by pool. */
  get counts(): Readonly<Record<keyof Placement, number>> {
    const counts = { active: 0, easy: 0, hard: 0 };
    for (const { pool } of this.#tasks.values()) if (pool !== "stale") counts[pool]++;
    return counts;
  }

  /**
   * Draws a task. One that was drawn is not drawn again for some time, at least not before its result counts: the policy would learn the answers of a few active
   * tasks by heart. If there is no other, it is the one that was drawn longest ago.
   */
  draw(): number {
    const { first, oldest } = this.#candidates();
    this.#draws++;
    for (const pool of [TURNS[this.#turns.next()] as Pool | "new", ...FALLBACKS]) {
      if (pool === "new" && this.#order.position() < this.#size) return this.#draw(this.#order.take(1)[0] as number);
      const entry = pool === "new" ? undefined : first.get(pool);
      if (entry !== undefined && entry.underWay === 0 && this.#draws - entry.drawn > this.#rest)
        return this.#draw(entry.task);
    }
    return this.#draw((oldest as Entry).task);
  }

  /** Adds the result of a draw. @param batch of the result */
  observe({ task, passes, trials, level }: Outcome, batch: number): void {
    const { half_life } = this.#settings;
    const entry = this.#tasks.get(task) as Entry;
    const before = decayed(entry, batch, half_life);
    if (trials > 0) {
      const expected = meanOf(posteriorOf(before, this.#priors.get(level ?? entry.level) ?? UNIFORM));
      const { sum, weight } = this.#progressAt(batch);
      this.#progress = { sum: sum + passes / trials - expected, weight: weight + 1, at: batch };
    }
    this.#tasks.set(task, {
      ...entry,
      level: level ?? entry.level,
      passes: before.passes + passes,
      trials: before.trials + trials,
      at: batch,
      underWay: entry.underWay - 1,
      wasReached: entry.wasReached || (trials > 0 && passes / trials >= this.#settings.pass_rate[0]),
    });
  }

  /**
   * Places every task anew, after the results of a batch, by its evidence as at its last measurement: age alone makes no task active. What is known of other tasks of the
   * level can.
   */
  place(batch: number): void {
    const { half_life, pass_rate } = this.#settings;
    this.#progress = this.#progressAt(batch);
    const byLevel = Map.groupBy(this.#tasks.values(), ({ level }) => level);
    this.#priors = new Map(Array.from(byLevel, ([level, entries]) => [level, priorOf(entries, batch, half_life)]));
    for (const [task, entry] of this.#tasks) {
      const isStale = decayed(entry, batch, half_life).trials < 1;
      const posterior = posteriorOf(entry, this.#priors.get(entry.level) as Prior);
      const place = likeliest(placementOf(posterior, pass_rate));
      // A task that was solved before can be learnt, unlike most hard ones.
      const pool = isStale ? "stale" : place === "hard" && entry.wasReached ? "active" : place;
      if (pool !== entry.pool) this.#tasks.set(task, { ...entry, pool });
    }
  }

  state(): PoolState {
    const entries = [...this.#tasks.values()];
    const column = <K extends keyof Entry>(name: K): Entry[K][] => entries.map((entry) => entry[name]);
    return {
      turns: this.#turns.state(),
      draws: this.#draws,
      progress: this.#progress,
      tasks: {
        task: column("task"),
        level: column("level").map((level) => level ?? null),
        passes: column("passes"),
        trials: column("trials"),
        at: column("at"),
        drawn: column("drawn"),
        underWay: column("underWay"),
        wasReached: column("wasReached"),
      },
    };
  }

  /** @param batch of the last results */
  restore({ turns, draws, progress, tasks }: PoolState, batch: number): void {
    this.#turns.restore(turns);
    this.#draws = draws;
    this.#tasks.clear();
    for (const [i, task] of tasks.task.entries()) {
      const at = (column: readonly number[]): number => column[i] as number;
      this.#tasks.set(task, {
        task,
        level: tasks.level[i] ?? undefined,
        passes: at(tasks.passes),
        trials: at(tasks.trials),
        at: at(tasks.at),
        drawn: at(tasks.drawn),
        underWay: at(tasks.underWay),
        wasReached: tasks.wasReached[i] as boolean,
        pool: "stale",
      });
    }
    this.#progress = progress;
    this.place(batch);
  }

  /** Returns the task of each pool that is drawn next: of those with the fewest draws under way, the one that was drawn longest ago; and that of all. */
  #candidates(): { readonly first: ReadonlyMap<Pool, Entry>; readonly oldest: Entry | undefined } {
    const first = new Map<Pool, Entry>();
    let oldest: Entry | undefined;
    for (const entry of this.#tasks.values()) {
      const other = first.get(entry.pool);
      if (other === undefined || isBefore(entry, other)) first.set(entry.pool, entry);
      if (oldest === undefined || isBefore(entry, oldest)) oldest = entry;
    }
    return { first, oldest };
  }

  #draw(task: number): number {
    const { underWay, ...entry } = this.#tasks.get(task) ?? {
      ...NO_EVIDENCE,
      ...{ task, level: undefined, pool: "stale" as const, underWay: 0, wasReached: false },
    };
    this.#tasks.set(task, { ...entry, drawn: this.#draws, underWay: underWay + 1 });
    return task;
  }

  #progressAt(batch: number): PoolState["progress"] {
    const { sum, weight, at } = this.#progress;
    const factor = 2 ** ((at - batch) / this.#settings.half_life);
    return { sum: sum * factor, weight: weight * factor, at: batch };
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.underWay === other.underWay ? one.drawn < other.drawn : one.underWay < other.underWay;
}

function likeliest({ hard, active, easy }: Placement): keyof Placement {
  if (active >= hard && active >= easy) return "active";
  return hard > easy ? "hard" : "easy";
}
