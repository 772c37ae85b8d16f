import type { SandboxError } from "@mrlm/spec";
import type { Submission } from "@mrlm/spec/host";
import ivm from "isolated-vm";
import type { CallParent, Write } from "../isolate/start.ts";
import { Compartment, type Tick } from "./compartment.ts";
import { compile, type Compiled, CompileError, compileEvaluation, fileOf } from "./compile.ts";
import { Ended } from "./ended.ts";
import { base64Of, textFiles } from "./files.ts";
import type { Isolates } from "./isolates.ts";
import { describeParentError } from "./parent-error.ts";
import { runModule } from "./run-module.ts";
import { withServices } from "./services.ts";
import type { Turn } from "./turn.ts";
import { Uncaught } from "./uncaught.ts";

/** Words that most code which prints objects contains. */
const SHOWS = /\b(?:console|inspect|util)\b/;

export interface RunnerOptions {
  readonly isolates: Isolates;
  readonly submission: Submission;
  /** Whether its results are shown; by default decided from its code. */
  readonly showsValues?: boolean;
  /** Data of the present request; the owner changes it. */
  readonly turn: Turn;
  /** Calls a function of which the other isolate has sent a handle. */
  readonly callParent?: CallParent;
}

/** Submission in an isolate that no other submission uses. */
export class Runner {
  readonly isolate: ivm.Isolate;
  readonly #submission: Submission;
  readonly #compartment: Compartment;
  /** Texts of the submission's files, by path. */
  readonly #files: Readonly<Record<string, string>>;
  #compiled: Compiled | undefined;

  constructor({
    isolates,
    submission,
    showsValues = SHOWS.test(submission.code),
    turn,
    callParent = refuse,
  }: RunnerOptions) {
    this.#submission = submission;
    this.#files = textFiles(submission.files ?? {});
    this.isolate = isolates.runner(turn.limits.memoryBytes, showsValues);
    const input = {
      file: fileOf(submission),
      stdin: submission.stdin ?? "",
      arguments: submission.arguments ?? [],
      files: this.#files,
      fetchFiles: submission.fetchFiles ?? [],
    };
    const write: Write = (stream, text) => {
      if ((stream === "stdout" || stream === "stderr") && typeof text === "string") turn.answer.output(stream, text);
    };
    const exit = (code: unknown, filesJson: unknown): void => {
      const exitCode = typeof code === "number" && Number.isInteger(code) ? code : 1;
      const files = submission.fetchFiles && { files: base64Of(filesJson, submission.fetchFiles) };
      turn.lifetime.end({ verdict: exitCode === 0 ? "ok" : "error", exitCode, ...files });
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

  /** Runs the top-level code to its end or first await, and registers the values of `names`. */
  load(names: readonly string[]): void {
    const compiled = this.#guard(() => compile(this.isolate, this.#submission, names));
    this.#compiled = compiled;
    const list = JSON.stringify(names);
    if (compiled.kind === "module") {
      this.call("expectModule", list);
      const exportsOf = (name: string): readonly string[] | undefined => this.read("exportNames", isNamesOrNone, name);
      this.#guard((timeout) =>
        runModule({
          isolate: this.isolate,
          context: this.#compartment.context,
          module: compiled.module,
          files: this.#files,
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

  /** Runs code in the scope of earlier code; `result` has the value of its last expression. */
  evaluate(submission: Submission): void {
    const file = fileOf(submission);
    this.#compiled = undefined;
    const script = this.#guard(() => compileEvaluation(this.isolate, submission, file));
    const value = this.#guard((timeout) => script.runSync(this.#compartment.context, { timeout, reference: true }));
    this.call("hold", value.derefInto());
  }

  /** Calls one of our functions in the isolate. */
  call<Result>(name: string, ...args: readonly unknown[]): Result {
    return this.#guard(() => this.#compartment.call<Result>(name, ...args));
  }

  /** Calls one of our functions and reads its answer. Throws Ended if the submission made the answer malformed. */
  read<Value>(name: string, isValid: (value: unknown) => value is Value, ...args: readonly unknown[]): Value {
    return this.#guard(() => this.#compartment.read(name, isValid, ...args));
  }

  /** Returns the files that the submission was asked for, in base64. */
  fetch(paths: readonly string[]): Record<string, string> {
    return base64Of(this.call<unknown>("fetched"), paths);
  }

  /** Runs one timer that is due. */
  tick(): Tick {
    const tick = this.#guard(() => this.#compartment.tick());
    if (tick.uncaught === undefined) return tick;
    throw this.uncaught(describedError(tick.uncaught));
  }

  /** Makes an error from its description, with lines of the original source. */
  uncaught(error: SandboxError): Uncaught {
    return new Uncaught(this.#compiled === undefined ? error : mapLines(error, this.#compiled));
  }

  /** Whether a limit, or the program itself, has ended it. */
  get isGone(): boolean {
    return this.isolate.isDisposed;
  }

  release(): void {
    if (!this.isolate.isDisposed) this.isolate.dispose();
  }

  /** Throws Ended at a limit of time or memory, and Uncaught for an error that the submission did not catch. */
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

/** Maximum characters of each text of an error. Unmodified code in an isolate returns no more. */
const LONGEST_TEXT = 100_000;

/** Whether a value has the form of an error description. The submission may have written it. */
export function isError(value: unknown): value is SandboxError {
  if (typeof value !== "object" || value === null) return false;
  const { name, message, trace, line } = value as Record<string, unknown>;
  return (
    [name, message, trace].every((text) => typeof text === "string" && text.length <= LONGEST_TEXT) &&
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
    // Our own code never returns it.
  }
  return { name: "Error", message: "An error that cannot be described was thrown.", trace: "" };
}

function refuse(): string {
  throw new Error("There are no tests to call.");
}

/** Maps the lines of an error to the original source if TypeScript was rewritten. */
function mapLines(error: SandboxError, { file, lineAt }: Pick<Compiled, "file" | "lineAt">): SandboxError {
  if (lineAt === undefined) return error;
  const place = new RegExp(`${file.replace(".", "\\.")}:(\\d+):(\\d+)`, "g");
  let line: number | undefined;
  const trace = error.trace.replace(place, (_, lineText: string, columnText: string) => {
    const mapped = lineAt(Number(lineText), Number(columnText));
    line ??= mapped;
    return `${file}:${mapped}`;
  });
  return { ...error, trace, ...(line === undefined ? {} : { line }) };
}
