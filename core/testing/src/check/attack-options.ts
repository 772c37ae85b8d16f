import type { Message } from "@mrlm/spec";

/** Limits of the search for programs that earn without solving. */
export interface AttackOptions {
  /** Number of episodes; default: {@link EPISODES} of a check, or of a thorough one. */
  readonly episodes?: number | undefined;
  /** Whether the search is that of `--attack`. */
  readonly isThorough?: boolean;
  /** Time after which the search stops early, in minutes. */
  readonly minutes?: number | undefined;
  /** Messages of paid episodes of a model that was trained, by environment, those of the most tasks first. */
  readonly learnt?: Readonly<Record<string, readonly (readonly Message[])[]>> | undefined;
}

/** Episodes of a search: in a contract suite, and in a check of an environment whose steps run in a sandbox or a tool; in any other check; with `--attack`. */
export const EPISODES = { suite: 200, check: 1_000, thorough: 20_000 } as const;
