import type { PlayTally, RunEvent } from "@mrlm/runtime";
import type { Metrics } from "@mrlm/spec";
import { decimal, duration, grouped, percent } from "./numbers.ts";
import { rate } from "./play-progress.ts";

type Event<K extends RunEvent["kind"]> = Extract<RunEvent, { readonly kind: K }>;

/** Metrics of the progress line in order, with short names and units. A metric of unit `share above 0` is omitted while it is 0. */
const SHOWN: readonly (readonly [metric: string, name: string, unit?: "share" | "share above 0"])[] = [
  ["loss/nll", "loss"],
  ["loss/nll_observed", "loss (observed)"],
  ["loss/preference", "loss"],
  ["preference/accuracy", "accuracy"],
  ["reward/mean", "reward"],
  ["watch/reward", "watch"],
  ["groups/without_signal", "equal groups", "share"],
  ["length/cut", "cut answers", "share above 0"],
  ["clip/fraction", "clipped tokens", "share above 0"],
  ["entropy", "entropy"],
  ["optim/grad_norm", "grad norm"],
];

/** Progress of a stage: its last step, the pace of its steps, and the step under way. */
export class StageProgress {
  readonly total: number;
  done: number;
  readonly #stage: Event<"stage">;
  readonly #tally: PlayTally;
  /** Milliseconds: begin of the stage, end of its last step, begin of the step under way. */
  readonly #began = performance.now();
  #ended = this.#began;
  #resumed = this.#began;
  /** Sums before the step under way. */
  #before: PlayTally;
  #report = "";
  #speed = "";

  constructor(stage: Event<"stage">, tally: PlayTally) {
    this.#stage = stage;
    this.#tally = tally;
    this.#before = tally.copy();
    this.total = stage.iterations;
    this.done = stage.iteration;
  }

  add({ report, seconds, played }: Event<"iteration">): void {
    const { learners = [] } = this.#stage;
    this.done = report.iteration;
    this.#report = `${shownReport(report.metrics, learners)}  ${seconds.toFixed(2)} s/step${shownWaits(report.metrics, learners, seconds)}`;
    this.#speed = shownSpeed(report, played, seconds);
    this.resume();
    this.#ended = this.#resumed;
  }

  /** Begins the next step, after an evaluation too. */
  resume(): void {
    this.#before = this.#tally.copy();
    this.#resumed = performance.now();
  }

  text(): string {
    const isOver = this.done >= this.total;
    return [this.#report, isOver ? "" : this.#left(), this.#speed, isOver ? "" : this.#underWay()]
      .filter(Boolean)
      .join("  ");
  }

  /** Formats the time of the other steps at the pace of the stage, with what stands between its steps: evaluations and checkpoints too. */
  #left(): string {
    const steps = this.done - this.#stage.iteration;
    const each = (this.#ended - this.#began) / steps;
    const left = each * (this.total - this.done) - (performance.now() - this.#ended);
    return steps === 0 ? "" : `left ${duration(Math.max(0, left) / 1000)}`;
  }

  /** Formats what was played of the next step. Play that runs ahead has begun it before. */
  #underWay(): string {
    const { batch } = this.#stage;
    const { episodes, tokens, cut, answers } = this.#tally.since(this.#before);
    const sampled = tokens > 0 ? `${grouped(tokens)} tokens, ${percent(cut / answers)} cut, ` : "";
    const played = batch === undefined ? "" : `${episodes} of ${batch} episodes, ${sampled}`;
    return `step ${this.done + 1}: ${played}${duration((performance.now() - this.#resumed) / 1000)}`;
  }
}

/** Formats the tokens of a step by its seconds, sampled ones or, where it plays nothing, computed ones, and the shares of its phases. */
function shownSpeed(
  { metrics, seconds: phases }: Event<"iteration">["report"],
  played: Event<"iteration">["played"],
  seconds: number,
): string {
  const spans = played.flatMap(({ trajectories }) =>
    trajectories.flatMap(({ turns }) => turns.map(({ tokens }) => tokens)),
  );
  const sampled = spans.reduce((sum, span) => sum + (span === undefined ? 0 : span.end - span.start), 0);
  const tokens = played.length === 0 ? (plain(metrics["tokens/computed"]) ?? 0) : sampled;
  const shares = ["sampling", "training", "environment"]
    .filter((phase) => (phases[phase] ?? 0) > 0)
    .map((phase) => `${phase} ${percent(Math.min(1, (phases[phase] as number) / seconds))}`);
  return [...(tokens > 0 ? [rate(tokens, seconds)] : []), ...shares].join("  ");
}

/** Formats the metrics of an iteration: of several learners, each behind the name of its policy. */
function shownReport(metrics: Metrics, learners: readonly string[]): string {
  if (learners.length === 0) return shownMetrics(metrics);
  return learners.map((policy) => `${policy}: ${shownMetrics(metricsOf(metrics, policy))}`).join("  ");
}

/**
 * Formats the age of the tokens and the shares of a step in which training and play waited. All learners of a stage take the same play, so those of the first
 * one are those of all. Returns no text where a batch is played after the one before it was learnt from.
 * @param seconds wall time of the step
 */
function shownWaits(metrics: Metrics, [learner]: readonly string[], seconds: number): string {
  const own = learner === undefined ? metrics : metricsOf(metrics, learner);
  const [age, training, play] = ["offpolicy/lag_mean", "wait/training", "wait/rollouts"].map((name) =>
    plain(own[name]),
  );
  if (age === undefined || training === undefined || play === undefined) return "";
  const share = (waited: number): string => percent(Math.min(1, waited / seconds));
  return `  age ${age.toFixed(1)}  training waits ${share(training)}  play waits ${share(play)}`;
}

function metricsOf(metrics: Metrics, policy: string): Metrics {
  const own = Object.entries(metrics).filter(([name]) => name.startsWith(`${policy}/`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(policy.length + 1), value]));
}

function shownMetrics(metrics: Metrics): string {
  const roles = Object.keys(metrics).flatMap((metric) => /^reward\/([^/]+)\/mean$/.exec(metric)?.[1] ?? []);
  const byRole = roles.map((role) => [`reward/${role}/mean`, `reward of ${role}`] as const);
  const shown = SHOWN.flatMap((row) => (row[0] === "reward/mean" && byRole.length > 0 ? byRole : [row]));
  const known = shown.flatMap(([metric, name, unit]) => {
    const value = plain(metrics[metric]);
    if (value === undefined || (unit === "share above 0" && value === 0)) return [];
    return `${name} ${unit === undefined ? decimal(value) : percent(value)}`;
  });
  return known.join("  ");
}

/** Returns the value of a metric, or the mean of one that is a sum. */
export function plain(value: Metrics[string] | undefined): number | undefined {
  return typeof value === "object" ? value.sum / value.count : value;
}
