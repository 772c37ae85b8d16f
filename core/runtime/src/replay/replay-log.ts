import { MrlmError } from "@mrlm/spec";
import type { EpisodeStore, TakePosition, WeightsRow } from "@mrlm/spec/host";
import type { LoggedBatches, RecordedWeights } from "@mrlm/store";

/** Counts of a replay. */
export interface ComparedWeights {
  /** Publications whose checksum is the recorded one. */
  readonly equal: number;
  /** Publications of which the run has no checksum. */
  readonly unrecorded: number;
  /** Recorded publications that the replay did not reach. */
  readonly missed: number;
}

/**
 * The episode store of a replay: it returns logged batches, compares publications with the recorded ones, and writes nothing. It never plays: a batch that is
 * not in the log is an error.
 */
export class ReplayLog {
  readonly #log: LoggedBatches;
  readonly #recorded: ReadonlyMap<string, readonly RecordedWeights[]>;
  readonly #reached = new Set<string>();
  readonly #onDifference: (error: MrlmError) => void;
  #equal = 0;
  #unrecorded = 0;

  /** @param onDifference called with REPLAY_DIFFERS at the first checksum that differs, and at later ones */
  constructor(log: LoggedBatches, onDifference: (error: MrlmError) => void) {
    this.#log = log;
    this.#recorded = Map.groupBy(log.weights(), placeOf);
    this.#onDifference = onDifference;
  }

  /** @param range completed steps of the run at the begin and the end of the replay */
  compared({ first, last }: { readonly first: number; readonly last: number }): ComparedWeights {
    const missed = Array.from(this.#recorded).filter(
      ([place, [row]]) =>
        row !== undefined && row.step > first && row.step <= last && !this.#reached.has(place) && row.checksum !== null,
    );
    return { equal: this.#equal, unrecorded: this.#unrecorded, missed: missed.length };
  }

  /** Returns the store that a run uses. */
  store(): EpisodeStore {
    const nothing = async (): Promise<void> => undefined;
    const refuse = (): never => {
      throw new MrlmError("INTERNAL", "A replay plays no episodes, and changes no store.");
    };
    return {
      take: async (learner, at, count, rule, record) => {
        const batch = this.#log.take(learner, at, count, rule);
        if (batch === "outdated") throw this.#differs(otherBatch(learner, at, record.runStep));
        if (batch === undefined) throw absent(learner, at, record.runStep);
        return batch;
      },
      announce: async (weights) => this.#compare(weights),
      // Asynchronous play opens groups while it learns. Nothing plays them.
      open: nothing,
      lease: async () => [],
      buffer: async () => ({ open: 0, leased: 0, ready: 0 }),
      renew: refuse,
      commit: refuse,
      newest: refuse,
      watch: refuse,
      // A stage abandons the play ahead of its end.
      abandon: nothing,
      refuse: nothing,
      settle: nothing,
      record: nothing,
      mirror: nothing,
      prune: nothing,
      join: nothing,
      leave: nothing,
      members: async () => [],
      flush: nothing,
      close: nothing,
    };
  }

  #compare({ policy, version, step, checksum }: WeightsRow): void {
    const place = placeOf({ policy, step });
    const rows = this.#recorded.get(place) ?? [];
    // A resumed run publishes anew what it repeats. Its intervals of evaluations and checkpoints may be others, so that equal weights have another version.
    const newest = rows.filter(({ incarnation }) => incarnation === rows.at(-1)?.incarnation);
    const recorded = newest.find((row) => row.version === version) ?? newest.at(-1);
    if (recorded === undefined || recorded.checksum === null) {
      this.#unrecorded++;
      return;
    }
    this.#reached.add(place);
    if (recorded.checksum === checksum) this.#equal++;
    else
      this.#differs(
        new MrlmError(
          "REPLAY_DIFFERS",
          `Step ${step} is the first that differs: the weights of policy ${policy} (version ${version}) after it have checksum ${String(checksum)}, and the run recorded ${recorded.checksum}. ${this.#equal} checksums before it are equal.`,
        ),
      );
  }

  #differs(error: MrlmError): MrlmError {
    this.#onDifference(error);
    return error;
  }
}

/** A policy is published once after each step, except by an algorithm that takes its batch after it has learnt. */
function placeOf({ policy, step }: Pick<RecordedWeights, "policy" | "step">): string {
  return `${step}/${policy}`;
}

function otherBatch(learner: string, { step }: TakePosition, runStep: number): MrlmError {
  return new MrlmError(
    "REPLAY_DIFFERS",
    `Step ${runStep - 1} is the first that differs: batch ${step} of learner ${learner} was played with other weights than those of the replay.`,
  );
}

function absent(learner: string, { step, refill }: TakePosition, runStep: number): MrlmError {
  return new MrlmError(
    "STORE_INVALID",
    `The store lacks batch ${step} (refill ${refill}) of learner ${learner}, from which step ${runStep} of the run learnt.`,
    { hint: "Restore the store from a copy." },
  );
}
