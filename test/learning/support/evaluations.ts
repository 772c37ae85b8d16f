import type { Event } from "../../e2e/support/mrlm.ts";

/** An evaluation of one environment on held-out tasks. */
export interface Skill {
  /** The stage before it, `start` at the beginning. */
  readonly label: string;
  readonly environment: string;
  /** Share of tasks that are solved greedily. */
  readonly greedy: number;
  /** Mean reward of sampled episodes. */
  readonly sampled: number;
}

interface Evaluation {
  readonly event: "evaluation";
  readonly label: string;
  readonly results: readonly {
    readonly environment: string;
    readonly greedy: { readonly accuracy: number };
    readonly sampled: { readonly reward: number };
  }[];
}

/** Returns the evaluations that a run printed with `--json`, in their order. */
export function evaluationsOf(events: readonly Event[]): Skill[] {
  return (events.filter(({ event }) => event === "evaluation") as unknown as Evaluation[]).flatMap(
    ({ label, results }) =>
      results.map(({ environment, greedy, sampled }) => ({
        label,
        environment,
        greedy: greedy.accuracy,
        sampled: sampled.reward,
      })),
  );
}
