import type { Observation } from "@mrlm/spec";
import type { PageSeat } from "@mrlm/ui";

/** Place at which a person plays: the terminal, or a page of the browser. */
export interface Seat {
  /** Explanation of how texts are written here. */
  readonly help: string;
  /** Shows what an agent of the person observes. */
  observe(observation: Observation): void;
  /** Shows a text of the command, such as the outcome of an episode. */
  show(text: string): void;
  /** Waits for a text of the person; `undefined` where the person leaves. Rejects when the signal aborts. */
  ask(question: string, options: { readonly signal: AbortSignal }): Promise<string | undefined>;
  /** Waits for one of the choices, and returns its key; `undefined` where the person leaves. Rejects when the signal aborts. */
  choose(
    question: string,
    options: { readonly choices: readonly SeatChoice[]; readonly signal: AbortSignal },
  ): Promise<string | undefined>;
  close(): void;
}

/** Choice of a question: what is typed, and what it means. */
export type SeatChoice = NonNullable<Parameters<PageSeat["ask"]>[1]["choices"]>[number];
