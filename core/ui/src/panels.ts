import type { Line, Mark } from "./chart/curves.ts";
import type { MetricSeries } from "./reader/run-metrics.ts";
import type { StageSpan } from "./reader/run-summary.ts";

/** Group of curves that one chart shows. */
export interface Panel {
  readonly title: string;
  readonly pattern: RegExp;
  readonly unit?: string;
  /** Rules of `doctor` whose findings stand beside the chart. */
  readonly rules: readonly string[];
}

/** Charts of a run, in their order. A chart without a curve is left out. Names may begin with a policy. */
export const PANELS: readonly Panel[] = [
  {
    title: "Reward",
    pattern: /(^|\/)(reward\/([^/]+\/)?mean|watch\/reward)$/,
    rules: ["watch-gap", "flat-reward", "falling-reward", "groups-without-signal"],
  },
  {
    title: "Copied, equal and unreadable answers",
    pattern: /(^|\/)(answers\/(copied|constant|unreadable|undecided|found)|watch\/agreement)$/,
    rules: ["copied-answers", "equal-answers", "answers-drift"],
  },
  {
    title: "Accuracy of evaluations",
    pattern: /^(eval\/.+\/(greedy|sampled)|goal)\/accuracy$/,
    rules: ["evaluation-drop"],
  },
  { title: "Components of the reward", pattern: /(^|\/)reward\/(?!mean$|std$)[^/]+$/, rules: ["component-divergence"] },
  { title: "Loss", pattern: /(^|\/)loss\//, unit: "nats", rules: ["rising-loss", "pairs-not-learnt"] },
  {
    title: "Divergence from the reference and the sampler",
    pattern: /(^|\/)(kl\/|mismatch\/|offpolicy\/kl$)/,
    unit: "nats",
    rules: ["kl-blow-up", "sampler-mismatch"],
  },
  {
    title: "Importance weights",
    pattern: /(^|\/)offpolicy\/(ess|ratio_max|truncated)$/,
    rules: ["few-effective-tokens"],
  },
  { title: "Groups of asynchronous play", pattern: /^buffer\//, unit: "groups", rules: [] },
  { title: "Learnt groups against opened ones", pattern: /^selection\//, rules: ["selection"] },
  {
    title: "Tasks of the curriculum by measured pass rate",
    pattern: /^curriculum\/(active|easy|hard)$/,
    unit: "tasks",
    rules: [],
  },
  { title: "Shares of the environments", pattern: /^curriculum\/share\//, rules: [] },
  { title: "Entropy", pattern: /(^|\/)entropy\//, unit: "nats", rules: ["entropy-collapse"] },
  { title: "Clip fraction", pattern: /(^|\/)clip\//, rules: ["clip-fraction"] },
  {
    title: "Gradient norm",
    pattern: /(^|\/)optim\/grad_norm$/,
    rules: ["gradient-spikes", "no-gradient", "skipped-steps"],
  },
  { title: "Length of answers", pattern: /(^|\/)length\/mean$/, unit: "tokens", rules: ["truncation"] },
  {
    title: "Cut answers, groups without signal",
    pattern: /(^|\/)(length\/cut|groups\/without_signal|episodes\/truncated)$/,
    rules: ["limited-episodes"],
  },
  {
    title: "Failed, unscored and out of range episodes",
    pattern: /(^|\/)episodes\/(failed|unscored|out_of_range)$/,
    unit: "episodes",
    rules: ["episodes-failed", "episodes-unscored", "rewards-out-of-range", "unscored-by-policy"],
  },
  {
    title: "Seconds of a step by phase",
    pattern: /^seconds\//,
    unit: "s",
    rules: ["environment-bound", "players-bound", "wire-bound", "watch-bound"],
  },
  {
    title: "Waits of play and of training",
    pattern: /(^|\/)wait\/(training|rollouts)$/,
    unit: "s",
    rules: ["play-bound", "learning-bound"],
  },
  {
    title: "Age of tokens in weight versions",
    pattern: /(^|\/)offpolicy\/lag_(mean|max)$/,
    unit: "versions",
    rules: ["version-lag"],
  },
];

/** Returns the series of a chart, without metrics of iterations that are always 0 where others are not. An evaluation and a watch of 0 are results. */
export function seriesOf(panel: Panel, series: readonly MetricSeries[]): MetricSeries[] {
  const found = series.filter(
    ({ name, kind }) => panel.pattern.test(name) && (kind === "iteration" || !name.includes("/seconds")),
  );
  const isResult = ({ kind, name }: MetricSeries): boolean =>
    kind === "evaluation" || /(^|\/)watch\/reward$/.test(name);
  const moving = found.filter((each) => isResult(each) || each.values.some((value) => value !== 0));
  return moving.length > 0 ? moving : found.slice(0, 1);
}

export function linesOf(series: readonly MetricSeries[]): Line[] {
  return series.map(({ name, steps, values, low, high }) => ({ label: name, xs: steps, values, low, high }));
}

/** Returns the begins of stages, where there are several. */
export function marksOf(stages: readonly StageSpan[]): Mark[] {
  return stages.length > 1 ? stages.map(({ name, from }) => ({ at: from, label: name })) : [];
}
