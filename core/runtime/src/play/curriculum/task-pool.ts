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
  priorOf,
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

/** `fresh`: the task has less than one episode of evidence, or was not drawn yet. */
type Pool = keyof Placement | "fresh";

interface Entry extends Evidence {
  readonly task: number;
  readonly level: number | undefined;
  /** Number of its last draw. */
  readonly drawn: number;
  /** Draws without a result. */
  readonly underWay: number;
  readonly pool: Pool;
}

/** Draws of an active task without a result, where every other active or fresh task is under way too. */
const MOST_UNDER_WAY = 4;

const numbers = z.array(z.number());

/** State of a pool. Tasks are in columns. */
export const poolState = z.object({
  turns: numbers,
  fresh: z.int(),
  progress: z.object({ sum: z.number(), weight: z.number(), at: z.int() }),
  tasks: z.object({
    task: numbers,
    level: z.array(z.number().nullable()),
    passes: numbers,
    trials: numbers,
    at: numbers,
    drawn: numbers,
    underWay: numbers,
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
  readonly #turns: CreditTurns;
  readonly #tasks = new Map<number, Entry>();
  /** Expected rate of a task by level. */
  #priors = new Map<number | undefined, number>();
  /** Draws of fresh tasks: new ones and those to be measured again take turns. */
  #fresh = 0;
  /** Weighted sum of the differences between the rate of a group and the one expected of its task, and of their weights. */
  #progress = { sum: 0, weight: 0, at: 0 };

  /** @param order of the tasks that were never drawn */
  constructor(order: EpochOrder, size: number, settings: CurriculumSettings) {
    const { fresh, hard } = settings;
    this.#order = order;
    this.#size = size;
    this.#settings = settings;
    this.#turns = new CreditTurns([1 - fresh - hard, fresh, hard]);
  }

  /** Mean change of the rate of a task between two measurements. */
  get progress(): number {
    const { sum, weight } = this.#progress;
    return weight === 0 ? 0 : sum / weight;
  }

  /** Number of measured tasks by pool. */
  get counts(): Readonly<Record<keyof Placement, number>> {
    const counts = { active: 0, easy: 0, hard: 0 };
    for (const { pool } of this.#tasks.values()) if (pool !== "fresh") counts[pool]++;
    return counts;
  }

  /** Draws a task. @param number of the draw, which ascends */
  draw(number: number): number {
    const turn = (["active", "fresh", "hard"] as const)[this.#turns.next()] as Pool;
    const { first, oldest } = this.#candidates();
    for (const [pool, limit] of [
      [turn, 1],
      ["active", 1],
      ["fresh", 1],
      ["active", MOST_UNDER_WAY],
      ["hard", 1],
      ["easy", 1],
    ] as const) {
      const entry = first.get(pool);
      const known = entry !== undefined && entry.underWay < limit ? entry : undefined;
      const isNew =
        pool === "fresh" && this.#order.position() < this.#size && (known === undefined || this.#fresh % 2 === 0);
      if (!isNew && known === undefined) continue;
      if (pool === "fresh") this.#fresh++;
      return this.#draw(known !== undefined && !isNew ? known.task : (this.#order.take(1)[0] as number), number);
    }
    // Every task is under way.
    return this.#draw((oldest as Entry).task, number);
  }

  /** Adds the result of a draw. @param batch of the result */
  observe({ task, passes, trials, level }: Outcome, batch: number): void {
    const { half_life } = this.#settings;
    const entry = this.#tasks.get(task) as Entry;
    const before = decayed(entry, batch, half_life);
    if (trials > 0) {
      const expected = meanOf(posteriorOf(before, this.#priors.get(level ?? entry.level) ?? 0.5));
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
    });
  }

  /**
   * Places every task anew, after the results of a batch. Evidence counts as at its last measurement, so that age alone makes no task active: it makes it fresh.
   */
  place(batch: number): void {
    const { half_life, pass_rate } = this.#settings;
    this.#progress = this.#progressAt(batch);
    const byLevel = Map.groupBy(this.#tasks.values(), ({ level }) => level);
    const now = (entry: Entry): Evidence => decayed(entry, batch, half_life);
    this.#priors = new Map(Array.from(byLevel, ([level, entries]) => [level, priorOf(entries.map(now))]));
    for (const [task, entry] of this.#tasks) {
      const posterior = posteriorOf(entry, this.#priors.get(entry.level) as number);
      const pool = now(entry).trials < 1 ? "fresh" : likeliest(placementOf(posterior, pass_rate));
      if (pool !== entry.pool) this.#tasks.set(task, { ...entry, pool });
    }
  }

  state(): PoolState {
    const entries = [...this.#tasks.values()];
    const column = <K extends keyof Entry>(name: K): Entry[K][] => entries.map((entry) => entry[name]);
    return {
      turns: this.#turns.state(),
      fresh: this.#fresh,
      progress: this.#progress,
      tasks: {
        task: column("task"),
        level: column("level").map((level) => level ?? null),
        passes: column("passes"),
        trials: column("trials"),
        at: column("at"),
        drawn: column("drawn"),
        underWay: column("underWay"),
      },
    };
  }

  /** @param batch of the last results */
  restore({ turns, fresh, progress, tasks }: PoolState, batch: number): void {
    this.#turns.restore(turns);
    this.#fresh = fresh;
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
        pool: "fresh",
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

  #draw(task: number, number: number): number {
    const { underWay, ...entry } = this.#tasks.get(task) ?? {
      ...NO_EVIDENCE,
      ...{ task, level: undefined, pool: "fresh" as const, underWay: 0 },
    };
    this.#tasks.set(task, { ...entry, drawn: number, underWay: underWay + 1 });
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
