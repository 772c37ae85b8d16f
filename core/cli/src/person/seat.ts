import type { Observation } from "@mrlm/spec";

/** Place at which a person plays: the terminal, or a page of the browser. */
export interface Seat {
  /** How to write texts here. */
  readonly help: string;
  /** Shows what an agent of the person observes. */
  observe(observation: Observation): void;
  /** Shows a text of the command, such as the outcome of an episode. */
  show(text: string): void;
  /**
   * Waits for a text of the person; `undefined` where the person leaves.
   * @param question shown before it
   * @param options.signal makes the promise reject
   * @param options.isOptional whether an empty text is an answer
   */
  ask(
    question: string,
    options: { readonly signal: AbortSignal; readonly isOptional?: boolean },
  ): Promise<string | undefined>;
  close(): void;
}
