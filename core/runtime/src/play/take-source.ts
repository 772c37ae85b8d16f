import type { PolicyId, TaskId } from "@mrlm/spec";
import type { PlayedTake, PlayingWeights, TakePlace } from "./take-player.ts";

/** Take with what its learner needs beside the episodes. */
export interface SourcedTake extends PlayedTake {
  /** Newest version of a policy: ages count from it. */
  newestOf(policy: PolicyId): number;
  /** Wall-clock seconds. `publish` is in neither of the waits. */
  readonly seconds: { readonly publish: number };
  /** Seconds for which rollouts waited for training since the take before; 0 where nothing is played ahead. */
  readonly rolloutsWaited: number;
  /** Groups of the buffer of asynchronous play: those that wait for a take, those that are played, and those that were taken to learn from, refused or late since the take before. */
  readonly buffer?: {
    readonly open: number;
    readonly ready: number;
    readonly leased: number;
    readonly learnt: number;
    readonly refused: number;
    readonly late: number;
  };
}

/** Group of asynchronous play. */
export interface OpenedGroup {
  /** Counts the groups of the stage, from 1. */
  readonly number: number;
  /** Index of the environment in the configuration. */
  readonly environment: number;
  readonly task: TaskId;
  /** Number of the take before which the weights were published that were the newest at its opening. */
  readonly step: number;
}

/** State of a source that is not in the task order, for a checkpoint. */
export interface SourceState {
  /** Weights of the takes that were played ahead, in order. */
  readonly ahead?: readonly PlayingWeights[];
  /** Number of groups that were opened in asynchronous play, and those of them that no take has returned. */
  readonly opened?: number;
  readonly waiting?: readonly OpenedGroup[];
}

/** Yields the takes of a stage in one of the modes of play. */
export interface TakeSource {
  /** Publishes the present weights and returns the next take. */
  next(place: TakePlace): Promise<SourcedTake>;
  state(): SourceState;
  /** Waits until everything that was begun is in the store: weights may then be published. */
  settled(): Promise<void>;
  /** Stops the play, after which nothing uses the store. */
  close(): Promise<void>;
}
