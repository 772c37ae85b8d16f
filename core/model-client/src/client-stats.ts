import { MrlmError } from "@mrlm/spec";
import type { Completion, ModelClientStats } from "./model-client.ts";

/** Sums of a client that are not part of its budget. */
export class ClientStats {
  readonly #failures: Record<string, number> = {};
  #answers = 0;
  #replayed = 0;
  #failovers = 0;
  #repairs = 0;
  #estimated = 0;
  #queueMs = 0;
  #modelMs = 0;

  addAnswer({ timing: { isReplayed }, usage }: Completion, { isFailover }: { isFailover: boolean }): void {
    this.#answers++;
    if (isReplayed) this.#replayed++;
    else if (usage.isEstimated) this.#estimated++;
    if (isFailover && !isReplayed) this.#failovers++;
  }

  addTimes({ queueMs, modelMs }: { queueMs: number; modelMs: number }): void {
    this.#queueMs += queueMs;
    this.#modelMs += modelMs;
  }

  addRepair(): void {
    this.#repairs++;
  }

  addFailure(error: unknown): void {
    const code = MrlmError.isInstance(error) ? error.code : "CANCELLED";
    this.#failures[code] = (this.#failures[code] ?? 0) + 1;
  }

  read(): Omit<ModelClientStats, "requests" | "inputTokens" | "outputTokens" | "cost"> {
    return {
      answers: this.#answers,
      replayed: this.#replayed,
      failovers: this.#failovers,
      repairs: this.#repairs,
      failures: { ...this.#failures },
      estimated: this.#estimated,
      queueMs: this.#queueMs,
      modelMs: this.#modelMs,
    };
  }
}
