import type { Console } from "./console/console.ts";
import { EXIT } from "./exit-codes.ts";

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

/** Milliseconds between two checks. */
const CHECK_MS = 500;

/**
 * Calls `onExit` when a signal ended the npx that started this command. npm forwards the signal to the shell in between, which exits without
 * forwarding it, so the command would keep running in the background.
 * @returns a function that stops the checks
 */
function watchNpx(onExit: () => void): () => void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  // A command below another command of npx may be meant to outlive it.
  if (event !== "npx" || !/^["']?mrlm\b/.test(script ?? "")) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onExit();
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
