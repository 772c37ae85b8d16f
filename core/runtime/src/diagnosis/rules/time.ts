import { mean, percent, series, short, type StageRule } from "../finding.ts";
import type { IterationRecord } from "../run-record.ts";

export const ENVIRONMENT_SHARE = 0.5;
export const PLAYERS_SHARE = 0.1;
/** Share of the time that neither the engine nor the environments use. */
export const WIRE_SHARE = 0.25;
/** Seconds of the same for an iteration. Below it, the time is the fixed cost of a small model. */
export const WIRE_SECONDS = 0.5;
/** Share of the time in which one of play and learning waits for the other. */
export const WAIT_SHARE = 0.3;
/** Share of the groups of asynchronous play that are refused. */
export const REFUSED_SHARE = 0.3;
/** Largest ratio of the mean length, or duration, of the learnt groups to that of all groups, and of these to that of the learnt ones. */
export const SELECTION_RATIO = 1.25;

export const environmentBound: StageRule = ({ iterations }) => {
  const share = sum(iterations, "environment") / sum(iterations, "total");
  if (!(share > ENVIRONMENT_SHARE)) return undefined;
  return {
    rule: "environment-bound",
    severity: "hint",
    what: `${percent(share)} of the time is spent waiting for environments.`,
    advice:
      "Serve them from a process of their own (server.spawn) or from more machines, raise sampling.concurrency, or make step and scoring quicker. With play.mode: async learning waits for slow groups: a larger play.lag plays more of them at the same time.",
  };
};

export const playersBound: StageRule = ({ iterations }) => {
  const seconds = sum(iterations, "players");
  const share = seconds / sum(iterations, "total");
  if (!(share > PLAYERS_SHARE)) return undefined;
  return {
    rule: "players-bound",
    severity: "hint",
    what: `${percent(share)} of the time (${Math.round(seconds)} s) is spent waiting for players from outside: endpoints and policies of plugins.`,
    advice:
      "In a deterministic run each turn waits for the slowest of them. Raise their `concurrency`, lower `deadline_ms` and `max_tokens` of their options, take a quicker model, or set engine.mode: throughput.",
  };
};

export const wireBound: StageRule = ({ iterations }) => {
  const total = sum(iterations, "total");
  const share = 1 - (sum(iterations, "engine") + sum(iterations, "environment") + sum(iterations, "players")) / total;
  if (iterations.length < 5 || !(share > WIRE_SHARE && (share * total) / iterations.length > WIRE_SECONDS))
    return undefined;
  return {
    rule: "wire-bound",
    severity: "hint",
    what: `${percent(share)} of the time belongs neither to the engine nor to the environments: messages, tokenising, the algorithm itself.`,
    advice:
      "Put the engine nearer (the same machine or rack), sample more episodes in each step, and raise sampling.concurrency.",
  };
};

export const playBound: StageRule = (stage, run) => {
  const share = waitShare(stage.iterations, "wait/training");
  // Slow environments are the cause then.
  if (!(share > WAIT_SHARE) || environmentBound(stage, run) !== undefined) return undefined;
  return {
    rule: "play-bound",
    severity: "hint",
    what: `Training waits for episodes in ${percent(share)} of the time: play is the bottleneck.`,
    advice:
      "Add rollout workers (`mrlm play --run RUN`) and samplers (`mrlm sample --run RUN`) where cores or GPUs are idle, raise sampling.concurrency, or take play.mode: async where a few long episodes delay a batch.",
  };
};

export const learningBound: StageRule = ({ iterations }) => {
  const share = waitShare(iterations, "wait/rollouts");
  if (!(share > WAIT_SHARE)) return undefined;
  return {
    rule: "learning-bound",
    severity: "hint",
    what: `Nothing can be played in ${percent(share)} of the time, because the steps before are not learnt: learning is the bottleneck.`,
    advice:
      "More rollout workers and samplers do not help. Give the engine more cores, a GPU or more ranks, or learn from each batch in fewer updates. A larger play.lag helps only where the times of the steps differ much.",
  };
};

export const groupsRefused: StageRule = ({ iterations }) => {
  const measured = iterations.filter(({ metrics }) => metrics["buffer/learnt"] !== undefined);
  const [refused, learnt] = [total(series(measured, "buffer/refused")), total(series(measured, "buffer/learnt"))];
  const share = refused / (refused + learnt);
  if (measured.length < 5 || !(share > REFUSED_SHARE)) return undefined;
  return {
    rule: "groups-refused",
    severity: "hint",
    what: `${percent(share)} of the played groups were refused: the algorithm did not accept them.`,
    advice:
      "Asynchronous play waits for slow groups and refuses none. With dynamic_sampling the algorithm refuses groups of equal rewards: take tasks of another difficulty.",
  };
};

export const selection: StageRule = ({ iterations }) => {
  const [durations, lengths] = ["selection/durations", "selection/lengths"].map((name) => series(iterations, name));
  const [duration, length] = [mean(durations ?? []), mean(lengths ?? [])];
  const isFar = (ratio: number): boolean => Math.max(ratio, 1 / ratio) > SELECTION_RATIO;
  if ((durations?.length ?? 0) < 5 || !(isFar(duration) || isFar(length))) return undefined;
  return {
    rule: "selection",
    severity: "hint",
    what: `Other groups are learnt from than were opened: the learnt ones took ${short(duration)} of the mean time of a group, and have ${short(length)} of the mean tokens.`,
    advice:
      "The algorithm refuses groups, and which ones goes with their time or length: tasks have another share in learning than in the environment. Without dynamic_sampling it learns from all groups; or take tasks of another difficulty.",
  };
};

/** Seconds of a wait as a share of the time of the iterations that measured it; `NaN` where fewer than five did. */
function waitShare(iterations: readonly IterationRecord[], name: string): number {
  const measured = iterations.filter(({ metrics }) => metrics[name] !== undefined);
  if (measured.length < 5) return Number.NaN;
  return total(series(measured, name)) / sum(measured, "total");
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function sum(iterations: readonly IterationRecord[], phase: string): number {
  return iterations.reduce((total, { seconds }) => total + (seconds[phase] ?? 0), 0);
}
