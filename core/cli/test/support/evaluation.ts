import type { EvaluationResult } from "@mrlm/runtime";

/** One evaluation of eight tasks, one of them without a score, a quarter of the answers cut. */
export const evaluation: EvaluationResult = {
  environment: "math@2",
  tasks: 8,
  greedy: {
    episodes: 8,
    scored: 7,
    unscored: 1,
    failed: 0,
    truncated: 0,
    cut: 0.25,
    reward: 0.5,
    accuracy: 0.5,
    components: {},
    tokens: 4,
    intervals: { accuracy: null, reward: null, components: {} },
    passAtK: [],
  },
};
