import { MrlmError, type Reward, score, unscored } from "@mrlm/spec";
import type { BridgeOptions } from "./bridge-options.ts";
import type { RemoteStep } from "./remote-episode.ts";

/** Rewards of an episode on a server. A reward that is missing or no number is never a 0. */
export class EpisodeReward {
  readonly #rule: BridgeOptions["rewards"];
  #last: number | undefined;
  #turn = 0;
  #hasTurn = false;

  constructor(rule: BridgeOptions["rewards"]) {
    this.#rule = rule;
  }

  /** Adds the reward of a step, if it has one. @throws BRIDGE_REWARD_INVALID for one that is no finite number */
  add({ reward }: Pick<RemoteStep, "reward">): void {
    if (reward === undefined || reward === null) return;
    const value = typeof reward === "boolean" ? Number(reward) : reward;
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new MrlmError(
        "BRIDGE_REWARD_INVALID",
        `The server sent the reward ${JSON.stringify(reward)?.slice(0, 100)}, which is no finite number.`,
      );
    this.#last = value;
    this.#turn += value;
    this.#hasTurn = true;
  }

  /** Returns the reward of the turn, and begins another. `undefined`: none yet. */
  turn(): Reward | undefined {
    const [sum, has] = [this.#turn, this.#hasTurn];
    this.#turn = 0;
    this.#hasTurn = false;
    return this.#rule === "sum" && has ? score(sum) : undefined;
  }

  /** Returns the reward of the last turn of an episode that a step on the server ended. Without a reward of that step it is unscored. */
  endBy({ reward }: Pick<RemoteStep, "reward">): Reward {
    if (this.#last === undefined || (reward !== undefined && reward !== null)) return this.end("by the server");
    return unscored(
      "BRIDGE_REWARD_MISSING",
      "The server ended the episode by a step, and sent no reward of that step.",
    );
  }

  /** Returns the reward of the last turn. @param cut reward of an episode without any; `undefined`: unscored */
  end(why: string, cut?: number): Reward {
    const turn = this.turn();
    if (this.#last === undefined)
      return cut === undefined
        ? unscored("BRIDGE_REWARD_MISSING", `The episode ended (${why}), and the server sent no reward in it.`)
        : score(cut);
    return this.#rule === "last" ? score(this.#last) : (turn ?? score(0));
  }
}
