import { MrlmError } from "@mrlm/spec";
import type { Outcome, WorkerLimits } from "./messages.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Limits of a calculator. */
export interface CalculatorOptions extends WorkerLimits {
  /** Worker processes: expressions that are evaluated at the same time. */
  readonly workers: number;
}

/** Result of an expression for the policy. */
export type Answer = Exclude<Outcome, { kind: "failed" }>;

/** Input of `Calculator.evaluate`. */
export interface EvaluateOptions {
  /** Object that stands for the caller: expressions of one caller are evaluated one after the other, and leave workers to other callers. */
  readonly caller: object;
  readonly signal: AbortSignal;
}

interface Call {
  readonly expression: string;
  readonly caller: object;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Evaluates expressions in worker processes, which start when they are needed. Further expressions wait, in the order of the calls. */
export class Calculator {
  readonly #options: CalculatorOptions;
  readonly #workers = new Set<WorkerProcess>();
  readonly #queue = new Set<Call>();
  readonly #callers = new Set<object>();

  constructor(options: CalculatorOptions) {
    this.#options = options;
  }

  /** Starts a worker process if there is none, so that the first call does not wait for it. */
  prepare(): void {
    if (this.#workers.size === 0) this.#start();
  }

  /**
   * Evaluates an expression. The time limit begins with the evaluation, not with the call.
   * @throws TOOL_FAILED if a worker process does not start or ends for a reason other than the expression; the reason of `signal`
   */
  async evaluate(expression: string, { caller, signal }: EvaluateOptions): Promise<Answer> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call = { expression, caller, resolve, reject };
    const abort = (): void => {
      this.#queue.delete(call);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#queue.add(call);
    this.#dispatch();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Process ids of the worker processes. */
  get processIds(): number[] {
    return [...this.#workers].flatMap(({ pid }) => pid ?? []);
  }

  /** Ends the worker processes. A later call starts new ones. */
  close(): void {
    for (const worker of this.#workers) worker.close();
  }

  #dispatch(): void {
    for (const call of this.#queue) {
      if (this.#callers.has(call.caller)) continue;
      const worker = [...this.#workers].find(({ isIdle }) => isIdle);
      if (worker === undefined) {
        if (this.#workers.size < this.#options.workers) this.#start();
        return;
      }
      void this.#run(worker, call);
    }
  }

  async #run(worker: WorkerProcess, call: Call): Promise<void> {
    this.#queue.delete(call);
    this.#callers.add(call.caller);
    const outcome = await worker.run(call.expression);
    this.#callers.delete(call.caller);
    if (outcome.kind === "failed") call.reject(failure(outcome.text));
    else call.resolve(outcome);
    this.#dispatch();
  }

  #start(): void {
    const worker: WorkerProcess = new WorkerProcess(
      this.#options,
      () => this.#dispatch(),
      (error) => {
        this.#workers.delete(worker);
        if (error === undefined) this.#dispatch();
        else this.#fail(failure(error.message));
      },
    );
    this.#workers.add(worker);
  }

  /** Rejects the calls that wait: a process that does not start once does not start for them either. */
  #fail(error: MrlmError): void {
    for (const { reject } of this.#queue) reject(error);
    this.#queue.clear();
  }
}

function failure(reason: string): MrlmError {
  return new MrlmError("TOOL_FAILED", `The calculator failed: ${reason}`, {
    hint: "Reduce the load of the machine, or raise the option memory_mb.",
  });
}
