import { randomBytes } from "node:crypto";
import { type Action, MrlmError, type Observation, type ResetOptions, type StepResult } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef, EnvironmentSession, TraceOptions } from "@mrlm/spec/host";
import {
  observationCodec,
  stepCodec,
  actionCodec,
  environmentRefCodec,
  type environmentProto as wire,
  toInt64,
} from "@mrlm/wire";
import type { SessionTransport } from "./session-transport.ts";

/** Longest wait of `close` for a server that does not answer; the end of the lease closes the session anyway. */
const CLOSE_MS = 5_000;
/** The session is the first of its episode. */
const NO_EPISODE = new Uint8Array();

/** Callbacks for changes of a session, and the first session of the episode that it restores. */
export interface SessionListener {
  readonly episode: Uint8Array | undefined;
  /** The server opened it, with a lease of this many milliseconds. */
  onLease(leaseMs: number): void;
  onClose(): void;
}

/** Session of an environment on a server. It behaves as a session in this process. */
export class RemoteEnvironment implements EnvironmentSession {
  readonly id: Uint8Array = randomBytes(16);
  /** Id of the first session of its episode. */
  readonly episode: Uint8Array;
  /** Lease that the server granted. */
  leaseMs: number;
  /** Time of the latest call of this session that ended, in milliseconds of `performance.now()`. */
  usedAt = performance.now();
  /** Whether the server has the session, as far as is known. */
  isOpen = false;
  readonly description: EnvironmentDescription;
  readonly #ref: EnvironmentRef;
  readonly #wireRef: wire.EnvironmentRef;
  readonly #transport: SessionTransport;
  readonly #listener: SessionListener;
  readonly #closing = new AbortController();
  #epoch = 0;
  #index = 0;
  #isActive = false;
  #isBusy = false;

  constructor(
    ref: EnvironmentRef,
    description: EnvironmentDescription,
    transport: SessionTransport,
    leaseMs: number,
    listener: SessionListener,
  ) {
    this.#ref = ref;
    this.description = description;
    this.#wireRef = environmentRefCodec.encode(ref);
    this.#transport = transport;
    this.leaseMs = leaseMs;
    this.#listener = listener;
    this.episode = listener.episode ?? this.id;
  }

  async reset({ seed, task, signal, trace }: ResetOptions & TraceOptions): Promise<Observation> {
    if (seed !== undefined && !Number.isSafeInteger(seed)) {
      throw new MrlmError("OPTIONS_INVALID", `The seed ${seed} is not a whole number within ±2^53.`, {
        hint: "Give a whole number as the seed.",
      });
    }
    return this.#work("reset", async () => {
      this.#isActive = false;
      this.#index = 0;
      const request: wire.ResetRequest = {
        sessionId: this.id,
        epoch: ++this.#epoch,
        environment: this.#wireRef,
        seed: seed === undefined ? undefined : toInt64(seed, "a seed"),
        task: task ?? "",
        leaseMs: this.leaseMs,
        deadlineMs: 0,
        episode: this.episode === this.id ? NO_EPISODE : this.episode,
      };
      const { observation, leaseMs } = await this.#transport.reset(request, [signal, this.#closing.signal], trace);
      this.leaseMs = leaseMs;
      this.#listener.onLease(leaseMs);
      this.isOpen = true;
      this.#isActive = true;
      return observationCodec.decode(observation);
    });
  }

  async step(action: Action, { signal, trace }: { readonly signal: AbortSignal } & TraceOptions): Promise<StepResult> {
    return this.#work("step", async () => {
      if (!this.#isActive) {
        const fault = this.#epoch === 0 ? "was stepped before any reset" : "was stepped after its episode had ended";
        throw new MrlmError("EPISODE_ENDED", `Environment ${this.#ref.id} ${fault}.`);
      }
      const request: wire.StepRequest = {
        sessionId: this.id,
        epoch: this.#epoch,
        index: this.#index,
        action: this.#encode(action),
        deadlineMs: 0,
      };
      this.#index++;
      try {
        return stepCodec.decode(await this.#transport.step(request, [signal, this.#closing.signal], trace));
      } catch (error) {
        // The episode continues after these errors. All other errors end it, also on the server.
        if (!MrlmError.hasCode(error, "OPTIONS_INVALID", "STEP_OUT_OF_ORDER")) this.#isActive = false;
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(this.#closedError());
    this.#listener.onClose();
    if (this.#epoch === 0) return;
    try {
      await this.#transport.close({ sessionId: this.id }, [AbortSignal.timeout(CLOSE_MS)]);
    } catch (error) {
      if (!MrlmError.hasCode(error, "CANCELLED", "SERVER_UNAVAILABLE", "SESSION_NOT_FOUND")) throw error;
    }
  }

  /** Records that the server no longer has the session. */
  lost(): void {
    this.isOpen = false;
  }

  async #work<T>(call: string, work: () => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw this.#closedError();
    if (this.#isBusy)
      throw new MrlmError(
        "SESSION_BUSY",
        `Environment ${this.#ref.id} got a ${call} while it was still working on an earlier call.`,
      );
    this.#isBusy = true;
    try {
      return await work();
    } catch (error) {
      if (MrlmError.hasCode(error, "SESSION_NOT_FOUND")) this.lost();
      throw error;
    } finally {
      this.#isBusy = false;
      this.usedAt = performance.now();
    }
  }

  #encode(action: Action): wire.Action {
    if (action.finishReason === "exhausted" && this.description.lacksExhausted === true)
      throw new MrlmError(
        "OPTIONS_INVALID",
        `The server of environment ${this.#ref.id} does not know the finish reason exhausted.`,
        { hint: "End the episode for all agents." },
      );
    try {
      return actionCodec.encode(action);
    } catch (error) {
      throw new MrlmError(
        "OPTIONS_INVALID",
        `An action for environment ${this.#ref.id} is malformed: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  #closedError(): MrlmError {
    return new MrlmError("SESSION_NOT_FOUND", `This session of environment ${this.#ref.id} has been closed.`);
  }
}
