import type { SandboxError, Submission } from "@mrlm/spec";
import ivm from "isolated-vm";
import type { CallParent, Write } from "../isolate/start.ts";
import { Compartment, type Tick } from "./compartment.ts";
import { type Compiled, compile, compileEvaluation, CompileError, fileOf } from "./compile.ts";
import { Ended } from "./ended.ts";
import { describeParentError } from "./parent-error.ts";
import type { Isolates } from "./isolates.ts";
import { mapLines } from "./map-lines.ts";
import { runModule } from "./run-module.ts";
import { withServices } from "./services.ts";
import type { Turn } from "./turn.ts";

/** In code that shows values, more often than not. */
const SHOWS = /\b(?:console|inspect|util)\b/;

/** What a runner is made with. */
export interface RunnerOptions {
  readonly isolates: Isolates;
  readonly submission: Submission;
  /** Whether its results will be shown; otherwise its code tells. */
  readonly showsValues?: boolean;
  /** Changed from outside from request to request. */
  readonly turn: Turn;
  /** Calls a function that the other isolate has handed over. */
  readonly callParent?: CallParent;
}

/** An error that the submission raised where nothing of it caught it. */
export class Uncaught extends Error {
  readonly error: SandboxError;

  constructor(error: SandboxError) {
    super(error.message);
    this.error = error;
  }
}

/** A submission in an isolate of its own, which no other submission has seen or will see. */
export class Runner {
  readonly isolate: ivm.Isolate;
  readonly #submission: Submission;
  readonly #compartment: Compartment;
  #compiled: Compiled | undefined;

  constructor({
    isolates,
    submission,
    showsValues = SHOWS.test(submission.code),
    turn,
    callParent = refuse,
  }: RunnerOptions) {
    this.#submission = submission;
    this.isolate = isolates.runner(turn.limits.memoryBytes, showsValues);
    const input = {
      file: fileOf(submission),
      stdin: submission.stdin ?? "",
      arguments: submission.arguments ?? [],
      files: submission.files ?? {},
    };
    const write: Write = (stream, text) => {
      if ((stream === "stdout" || stream === "stderr") && typeof text === "string") turn.answer.output(stream, text);
    };
    const exit = (code: unknown): void => {
      const exitCode = typeof code === "number" && Number.isInteger(code) ? code : 1;
      turn.lifetime.end({ verdict: exitCode === 0 ? "ok" : "error", exitCode });
      this.isolate.dispose();
    };
    const parent = [new ivm.Callback(write), new ivm.Callback(exit), new ivm.Callback(withServices(callParent))];
    try {
      this.#compartment = new Compartment(
        this.isolate,
        [JSON.stringify(input), turn.limits.outputBytes, ...parent],
        turn,
      );
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Runs the top-level code up to its end or its first wait, and hands over what it has defined under `names`. */
  load(names: readonly string[]): void {
    const compiled = this.#guard(() => compile(this.isolate, this.#submission, names));
    this.#compiled = compiled;
    const list = JSON.stringify(names);
    if (compiled.kind === "module") {
      this.call("expectModule", list);
      const { files = {} } = this.#submission;
      const exportsOf = (name: string): readonly string[] | undefined => this.read("exportNames", isNamesOrNone, name);
      this.#guard((timeout) =>
        runModule({
          isolate: this.isolate,
          context: this.#compartment.context,
          module: compiled.module,
          files,
          exportsOf,
          timeout,
        }),
      );
    } else {
      const main = this.#guard((timeout) =>
        compiled.script.runSync(this.#compartment.context, { timeout, reference: true }),
      );
      const thrown = this.read("load", isErrorOrNone, main.derefInto(), list);
      if (thrown !== undefined) throw this.uncaught(thrown);
    }
  }

  /** Runs code where the names of earlier code are known; `result` has the value of its last expression. */
  evaluate(submission: Submission): void {
    const file = fileOf(submission);
    this.#compiled = undefined;
    const script = this.#guard(() => compileEvaluation(this.isolate, submission, file));
    const value = this.#guard((timeout) => script.runSync(this.#compartment.context, { timeout, reference: true }));
    this.call("hold", value.derefInto());
  }

  /** Calls our code in the isolate. */
  call<Result>(name: string, ...args: readonly unknown[]): Result {
    return this.#guard(() => this.#compartment.call<Result>(name, ...args));
  }

  /** What our code in the isolate answers. Throws Ended where the submission has made it answer something else. */
  read<Value>(name: string, isValid: (value: unknown) => value is Value, ...args: readonly unknown[]): Value {
    return this.#guard(() => this.#compartment.read(name, isValid, ...args));
  }

  /** Lets one timer run, if one is due. */
  tick(): Tick {
    const tick = this.#guard(() => this.#compartment.tick());
    if (tick.uncaught === undefined) return tick;
    throw this.uncaught(describedError(tick.uncaught));
  }

  /** An error that our code in the isolate has described, with the lines of what was written. */
  uncaught(error: SandboxError): Uncaught {
    return new Uncaught(this.#compiled === undefined ? error : mapLines(error, this.#compiled));
  }

  /** A limit, or the program itself, has ended it. */
  get isGone(): boolean {
    return this.isolate.isDisposed;
  }

  release(): void {
    if (!this.isolate.isDisposed) this.isolate.dispose();
  }

  /** Throws Ended when the time or the memory is used up, and Uncaught for what the submission raised and nothing of it caught. */
  #guard<Result>(run: (timeoutMs: number) => Result): Result {
    try {
      return this.#compartment.enter(run);
    } catch (error) {
      if (error instanceof Ended || error instanceof Uncaught) throw error;
      if (error instanceof CompileError) throw new Uncaught(error.error);
      throw this.uncaught(describeParentError(error, fileOf(this.#submission)));
    }
  }
}

/** Whether it is the description of an error, whoever wrote it. */
export function isError(value: unknown): value is SandboxError {
  if (typeof value !== "object" || value === null) return false;
  const { name, message, trace, line } = value as Record<string, unknown>;
  return (
    [name, message, trace].every((text) => typeof text === "string") &&
    (line === undefined || Number.isSafeInteger(line))
  );
}

function isErrorOrNone(value: unknown): value is SandboxError | undefined {
  return value === undefined || isError(value);
}

function isNamesOrNone(value: unknown): value is readonly string[] | undefined {
  return value === undefined || (Array.isArray(value) && value.every((name) => typeof name === "string"));
}

function describedError(text: string): SandboxError {
  try {
    const value: unknown = JSON.parse(text);
    if (isError(value)) return value;
  } catch {
    // Nothing that our own code would say.
  }
  return { name: "Error", message: "An error that cannot be described was thrown.", trace: "" };
}

function refuse(): string {
  throw new Error("There is nobody to call.");
}
