import type { Console } from "./console/console.ts";
import { EXIT } from "./exit-codes.ts";
import { watchNpx } from "./npx.ts";

/** Signals that end a command: the first Ctrl-C or SIGTERM requests a drain, the second ends the process at once. */
export interface Interrupts {
  readonly drain: AbortSignal;
  dispose(): void;
}

/**
 * Listens for signals and for uncaught errors of plugins.
 * @param drainText printed at the first signal: the work that is finished before the end
 * @param resumeText printed when the process ends at once: how to continue
 */
export function listenForInterrupts(
  console: Console,
  drainText: string | (() => string),
  resumeText: () => string | undefined = () => undefined,
): Interrupts {
  const controller = new AbortController();
  const endAtOnce = (exitCode: number): never => {
    const text = resumeText();
    if (text !== undefined) console.note(text);
    process.exit(exitCode);
  };
  const onSignal = (): void => {
    if (controller.signal.aborted) endAtOnce(EXIT.interrupted);
    console.note(`\n${typeof drainText === "string" ? drainText : drainText()} (again to stop at once)`);
    controller.abort();
  };
  const onUncaught = (error: unknown): void => {
    const message =
      "A timer, a callback or a promise without await raised this error outside of every call, mostly in an environment or another plugin.";
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
  const unwatchNpx = watchNpx(() => void (isDraining() || onSignal()));
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("uncaughtException", onUncaught);
  return {
    drain: controller.signal,
    dispose() {
      unwatchNpx();
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      process.off("uncaughtException", onUncaught);
    },
  };
}
