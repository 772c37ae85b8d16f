import { MrlmError, type StepResult } from "@mrlm/spec";
import type { HeldSession } from "../client-sessions.ts";
import type { Episode } from "../episode.ts";
import type { ModelTurn } from "./model-turn.ts";
import type { Verification } from "./verification.ts";

/** Session of a client of NeMo Gym: one episode. */
export class NemoSession implements HeldSession {
  readonly episode: Episode;
  readonly lost: Promise<void>;
  readonly #controller = new AbortController();
  #touched = performance.now();
  #failure: MrlmError | undefined;
  #verification: Promise<Verification> | undefined;
  /** Whether the client has ended the episode by its answer. */
  #isVerified = false;
  /** Latest step of the Gymnasium family, which the client may ask for again. */
  #step: { readonly id: string; readonly result: Promise<StepResult> } | undefined;

  constructor(episode: Episode) {
    this.episode = episode;
    this.lost = episode.sessionEnded.then(() => (this.hasPlace ? undefined : new Promise<void>(() => undefined)));
  }

  get hasPlace(): boolean {
    return !this.episode.isOver && !this.#isVerified;
  }

  get idleMs(): number {
    return performance.now() - this.#touched;
  }

  touch(): void {
    this.#touched = performance.now();
    this.episode.renew();
  }

  async close(): Promise<void> {
    this.#controller.abort(new MrlmError("CANCELLED", "The client closed the session."));
    await this.episode.close();
  }

  /** Acts. A repeated request with the same id gets the result of the first. Rejects as a step of an episode does. */
  act(turn: ModelTurn, id?: string): Promise<StepResult> {
    if (id !== undefined && this.#step?.id === id) return this.#step.result;
    const result = this.#act(turn);
    if (id !== undefined) {
      result.catch(() => undefined);
      this.#step = { id, result };
    }
    return result;
  }

  /**
   * Returns the result of the episode, after the answer if the episode has not ended. A repeated request gets the same. Without an answer, and where the
   * environment replies to it, the episode is truncated. Rejects with the error of an action that has failed.
   */
  verify(answer: ModelTurn | undefined): Promise<Verification> {
    this.#verification ??= this.#verify(answer);
    return this.#verification;
  }

  async #verify(answer: ModelTurn | undefined): Promise<Verification> {
    const { episode } = this;
    if (this.#failure === undefined && episode.end === undefined && answer !== undefined)
      await this.#act(answer).catch((error: unknown) => {
        // A call that was under way may have ended the episode.
        if (!MrlmError.hasCode(error, "EPISODE_ENDED")) throw error;
      });
    if (this.#failure !== undefined) throw this.#failure;
    const { reward, end } = episode;
    if (end !== undefined) return end;
    this.#isVerified = true;
    await episode.close();
    // A mask for each episode that continues after a wrong answer would leave out the failures alone.
    return { reward, terminated: false, truncated: true };
  }

  async #act({ message, finishReason }: ModelTurn): Promise<StepResult> {
    try {
      return await this.episode.act(message, this.#controller.signal, finishReason);
    } catch (error) {
      if (this.episode.isOver && !MrlmError.hasCode(error, "EPISODE_ENDED"))
        this.#failure ??= MrlmError.isInstance(error) ? error : new MrlmError("INTERNAL", "An action failed.");
      throw error;
    }
  }
}
