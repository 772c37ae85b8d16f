import { MrlmError, type ToolCallOptions } from "@mrlm/kit";
import type { Outcome, WorkerLimits } from "./messages.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface CalculatorOptions extends WorkerLimits {
  /** Worker processes: expressions that are evaluated at the same time. */
  readonly workers: number;
}

/** Result of an expression for the policy. */
export type Answer = Exclude<Outcome, { kind: "failed" }>;

interface Call {
  readonly expression: string;
  readonly caller: object;
  /** Called with the promise of the outcome in an array, so that the wait for a worker ends before the evaluation. */
  readonly begin: (evaluation: readonly [Promise<Outcome>]) => void;
  readonly fail: (error: unknown) => void;
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
   * Evaluates an expression. Its limit of time begins with the evaluation: the wait for a worker process is a queue.
   * @param caller stands for an episode: its expressions are evaluated one after the other, and leave workers to others
   * @throws TOOL_FAILED if a worker process does not start or ends for a reason other than the expression; the reason of `signal`
   */
  async evaluate(expression: string, caller: object, { signal, queued = alone }: ToolCallOptions): Promise<Answer> {
    signal.throwIfAborted();
    const { promise: begun, resolve: begin, reject: fail } = Promise.withResolvers<readonly [Promise<Outcome>]>();
    const { promise: aborted, reject: abort } = Promise.withResolvers<never>();
    aborted.catch(() => undefined);
    const onAbort = (): void => abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const call = { expression, caller, begin, fail };
    this.#queue.add(call);
    this.#dispatch();
    try {
      const [evaluation] = await queued(() => Promise.race([begun, aborted]));
      const outcome = await Promise.race([evaluation, aborted]);
      if (outcome.kind === "failed") throw failure(outcome.text);
      return outcome;
    } finally {
      this.#queue.delete(call);
      signal.removeEventListener("abort", onAbort);
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
      this.#queue.delete(call);
      call.begin([this.#run(worker, call)]);
    }
  }

  async #run(worker: WorkerProcess, { expression, caller }: Call): Promise<Outcome> {
    this.#callers.add(caller);
    const outcome = await worker.run(expression);
    this.#callers.delete(caller);
    this.#dispatch();
    return outcome;
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
    for (const { fail } of this.#queue) fail(error);
    this.#queue.clear();
  }
}

/** Waits outside of a host, which measures queues. */
const alone: NonNullable<ToolCallOptions["queued"]> = async (wait) => await wait();

function failure(reason: string): MrlmError {
  return new MrlmError("TOOL_FAILED", `The calculator failed: ${reason}`, {
    hint: "Reduce the load of the machine, or raise the option memory_mb.",
  });
}
