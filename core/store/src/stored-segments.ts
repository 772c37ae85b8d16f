import { iterated } from "./database.ts";
import { MrlmError, type PolicyId } from "@mrlm/spec";
import { ReadStore } from "./open-to-read.ts";
import type { StorePlace } from "./store-place.ts";
import { decodeRuns, float32Of, int32Of } from "./runs.ts";

/** Segment that a policy sampled in training, and whose tokens are kept. */
export interface SegmentPlace {
  /** Key of the episode in the store. */
  readonly key: number;
  readonly part: number;
  readonly position: number;
  /** Id of the episode. */
  readonly episode: string;
  readonly agent: string;
  readonly policy: PolicyId;
  /** `STAGE/POLICY` */
  readonly learner: string;
  /** Step of the run that learnt from it first. */
  readonly step: number;
  /** Number of the process that played it. */
  readonly incarnation: number;
  /** Weight versions of its sampled tokens. */
  readonly sampledBy: readonly number[];
}

/** Tokens of a segment. All arrays have the shape [tokens]. */
export interface StoredTokens {
  readonly tokens: Int32Array;
  /** Log-probabilities in nats at the masked tokens. */
  readonly logprobs: Float32Array;
  readonly mask: Uint8Array;
  /** Weight version of each token. */
  readonly versions: Int32Array;
}

/** Reads segments of a store, one at a time, and changes no row. */
export class StoredSegments {
  readonly #store: ReadStore;

  /** Throws STORE_INVALID for a file that is no store, STORE_FAILED for one that cannot be read. */
  constructor(place: StorePlace) {
    this.#store = new ReadStore(place);
  }

  /** Returns the segments of training episodes that were not played anew, in order of play. Throws STORE_INVALID for one whose runs are damaged. */
  places(): SegmentPlace[] {
    const sql = `SELECT segments.episode AS key, segments.part AS part, segments.position AS position, episodes.id AS episode, parts.agent AS agent,
        parts.policy AS policy, cohorts.learner AS learner, cohorts.run_step AS step, cohorts.incarnation AS incarnation,
        segments.length AS length, segments.mask AS mask, segments.versions AS versions
      FROM cohorts JOIN episodes ON episodes.cohort = cohorts.key JOIN parts ON parts.episode = episodes.key
      JOIN segments ON segments.episode = episodes.key AND segments.part = parts.position
      WHERE cohorts.purpose = 'train' AND cohorts.state = 'committed' AND cohorts.has_tokens = 1 AND parts.player_kind = 'policy'
      ORDER BY segments.episode, segments.part, segments.position`;
    return this.#store.read(() =>
      Array.from(iterated(this.#store.database.prepare(sql), []), ({ length, mask, versions, ...place }) => ({
        ...(place as unknown as Omit<SegmentPlace, "sampledBy">),
        sampledBy: this.#intact(place as unknown as SegmentPlace, () =>
          sampledVersions(
            decodeRuns(mask as Uint8Array, new Uint8Array(length as number)),
            decodeRuns(versions as Uint8Array, new Int32Array(length as number)),
          ),
        ),
      })),
    );
  }

  /** Throws STORE_INVALID for a segment whose arrays differ in length. */
  read(place: SegmentPlace): StoredTokens {
    const { key, part, position } = place;
    const sql = "SELECT * FROM segments WHERE episode = ? AND part = ? AND position = ?";
    const row = this.#store.read(() => this.#store.database.prepare(sql).get(key, part, position));
    return this.#intact(place, () => {
      const tokens = int32Of(row?.["tokens"] as Uint8Array);
      const logprobs = float32Of(row?.["logprobs"] as Uint8Array);
      const mask = decodeRuns(row?.["mask"] as Uint8Array, new Uint8Array(tokens.length));
      const versions = decodeRuns(row?.["versions"] as Uint8Array, new Int32Array(tokens.length));
      if (tokens.length !== row?.["length"] || logprobs.length !== tokens.length)
        throw new RangeError("its arrays differ in length");
      return { tokens, logprobs, mask, versions };
    });
  }

  /** Decodes a segment. Throws STORE_INVALID where its bytes are none. */
  #intact<T>({ position, episode }: Pick<SegmentPlace, "position" | "episode">, decode: () => T): T {
    try {
      return decode();
    } catch (cause) {
      throw new MrlmError(
        "STORE_INVALID",
        `Segment ${position} of episode ${episode} in ${this.#store.path} is damaged.`,
        {
          hint: "Restore the store from a copy.",
          cause,
        },
      );
    }
  }

  close(): void {
    this.#store.close();
  }
}

function sampledVersions(mask: Uint8Array, versions: Int32Array): number[] {
  const found = new Set<number>();
  for (let i = 0; i < mask.length; i++) if (mask[i] === 1) found.add(versions[i] as number);
  return [...found];
}
