import type { Console } from "./console/console.ts";
import { EXIT } from "./exit-codes.ts";
import { watchNpx } from "./npx.ts";

/** What ends a command from outside: the first Ctrl-C or SIGTERM asks it to drain, the second ends the process at once. */
export interface Interrupts {
  readonly drain: AbortSignal;
  dispose(): void;
}

/**
 * Listens for signals, and for what plugins throw where nobody can catch it.
 * @param what is said at the first signal: what is being finished
 * @param lastWords said when the process ends at once: how to go on
 */
export function listenForInterrupts(
  console: Console,
  what: string | (() => string),
  lastWords: () => string | undefined = () => undefined,
): Interrupts {
  const controller = new AbortController();
  const endAtOnce = (exitCode: number): never => {
    const words = lastWords();
    if (words !== undefined) console.note(words);
    process.exit(exitCode);
  };
  const onSignal = (): void => {
    if (controller.signal.aborted) endAtOnce(EXIT.interrupted);
    console.note(`\n${typeof what === "string" ? what : what()} (again to stop at once)`);
    controller.abort();
  };
  const onUncaught = (error: unknown): void => {
    const message =
      "This was thrown outside of every call: by a timer, a callback, or a promise that nobody awaits, mostly in an environment or another plugin.";
    console.note(
      `error INTERNAL: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n  ${message}`,
    );
    console.emit({
      event: "error",
      code: "INTERNAL",
      message: error instanceof Error ? error.message : String(error),
      hint: message,
    });
    endAtOnce(EXIT.failure);
  };
  const isDraining = (): boolean => controller.signal.aborted;
  const forgetNpx = watchNpx(() => void (isDraining() || onSignal()));
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("uncaughtException", onUncaught);
  return {
    drain: controller.signal,
    dispose() {
      forgetNpx();
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      process.off("uncaughtException", onUncaught);
    },
  };
}
