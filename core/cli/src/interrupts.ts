import type { Console } from "./console/console.ts";
import { EXIT } from "./exit-codes.ts";

/** Signals of a command: the first Ctrl-C or SIGTERM asks it to drain, the second ends the process at once. */
export interface Interrupts {
  readonly drain: AbortSignal;
  dispose(): void;
}

/**
 * @param what is said at the first signal: what is being finished
 * @param lastWords said at the second one: how to go on
 */
export function listenForInterrupts(console: Console, what: string | (() => string), lastWords: () => string | undefined = () => undefined): Interrupts {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) {
      const words = lastWords();
      if (words !== undefined) console.note(words);
      process.exit(EXIT.interrupted);
    }
    console.note(`\n${typeof what === "string" ? what : what()} (again to stop at once)`);
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    drain: controller.signal,
    dispose() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
