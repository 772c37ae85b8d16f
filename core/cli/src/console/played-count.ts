import type { PlannedGroup } from "@mrlm/spec/host";
import type { Console } from "./console.ts";

/** Shortest time between two printed lines, in milliseconds. */
const INTERVAL_MS = 15_000;

/** Counts what a rollout worker has played, and prints it from time to time. */
export class PlayedCount {
  readonly #console: Console;
  readonly #clock: () => number;
  #cohorts = 0;
  #groups = 0;
  #episodes = 0;
  #late = 0;
  #printed: { readonly at: number; readonly episodes: number } | undefined;

  /** @param clock milliseconds; for tests */
  constructor(console: Console, clock = (): number => performance.now()) {
    this.#console = console;
    this.#clock = clock;
  }

  /** Begins the measurement of the rate: what is waited for before is no play. */
  begin(): void {
    this.#printed = { at: this.#clock(), episodes: this.#episodes };
  }

  add(groups: readonly Pick<PlannedGroup, "size">[], result: "accepted" | "late"): void {
    if (result === "late") this.#late++;
    else {
      this.#cohorts++;
      this.#groups += groups.length;
      this.#episodes += groups.reduce((sum, { size }) => sum + size, 0);
    }
    const { at, episodes } = (this.#printed ??= { at: this.#clock(), episodes: 0 });
    const now = this.#clock();
    if (now - at < INTERVAL_MS) return;
    const rate = (1000 * (this.#episodes - episodes)) / (now - at);
    this.#console.note(`${this.text()}, ${rate.toFixed(1)} episodes/s`);
    this.#printed = { at: now, episodes: this.#episodes };
  }

  text(): string {
    const late =
      this.#late === 0
        ? ""
        : `, ${this.#late} ${this.#late === 1 ? "cohort too late: another process had leased it" : "cohorts too late: other processes had leased them"}`;
    return `${this.#cohorts} cohorts played: ${this.#groups} groups, ${this.#episodes} episodes${late}`;
  }

  toJson(): Readonly<Record<"cohorts" | "groups" | "episodes" | "late", number>> {
    return { cohorts: this.#cohorts, groups: this.#groups, episodes: this.#episodes, late: this.#late };
  }
}
