/** Thread that evaluates one expression at a time. Its parent ends it past the limits. */
import { parentPort, workerData } from "node:worker_threads";
import { evaluate, limitText } from "./math/evaluate.ts";
import { isIntact } from "./math/instance.ts";
import type { Outcome, WorkerLimits, WorkerMessage } from "./messages.ts";

const { outputBytes } = workerData as WorkerLimits;

/** Longest message of an error: the library quotes expressions. */
const ERROR_BYTES = 500;

// The first evaluations compile the functions of the library, which takes a hundred times as long as a later call.
for (const expression of ["1/3 + 2^0.5 * sin(1)", "[1, 2; 3, 4] * 2", "5 cm to inch"]) evaluate(expression);

parentPort?.on("message", (expression: string) => {
  const outcome = outcomeOf(expression);
  send({ kind: "outcome", outcome, isReady: isIntact() });
});
send({ kind: "ready" });

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

function outcomeOf(expression: string): Outcome {
  try {
    return { kind: "value", ...limitText(evaluate(expression), outputBytes) };
  } catch (error) {
    const isTooDeep = error instanceof RangeError && error.message.startsWith("Maximum call stack");
    const message = isTooDeep ? "The expression is nested too deeply" : (error as Error).message;
    return { kind: "error", text: limitText(message, ERROR_BYTES).text };
  }
}
