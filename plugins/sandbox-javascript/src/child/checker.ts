import type { SandboxTestResult } from "@mrlm/spec";
import type { SandboxTestSuite } from "@mrlm/spec/host";
import type ivm from "isolated-vm";
import type { Tested } from "../isolate/checker.ts";
import { Compartment, type Tick } from "./compartment.ts";
import type { Turn } from "./turn.ts";
import { stripTypes } from "./typescript.ts";

/** Isolate of trusted test code, with a new context for each suite. */
export class Checker {
  readonly #compartment: Compartment;
  readonly #isolate: ivm.Isolate;
  #harness: ivm.Script | undefined;
  #tests: ivm.Reference<unknown> | undefined;

  /** `callRunner` is a callback that calls the submission. */
  constructor(isolate: ivm.Isolate, callRunner: ivm.Callback, turn: Turn) {
    this.#isolate = isolate;
    this.#compartment = new Compartment(isolate, [callRunner], turn);
  }

  /** Defines the entry points and compiles all test code. Throws for invalid test code, which is no fault of the submission. */
  prepare({ entryPoints, harness = "", tests }: SandboxTestSuite): void {
    this.#compartment.call("define", JSON.stringify(entryPoints));
    this.#harness = this.#compile(harness, "harness.js");
    const all = this.#compileTests(tests);
    if (all !== undefined)
      this.#tests = this.#compartment.enter((timeout) =>
        all.runSync(this.#compartment.context, { timeout, reference: true }),
      );
  }

  /** Runs the set-up code. */
  setUp(): void {
    const { context } = this.#compartment;
    this.#compartment.enter((timeout) => void this.#harness?.runSync(context, { timeout, reference: true }));
  }

  /** Starts the test at this position. */
  start(index: number): void {
    this.#compartment.call("start", index, this.#tests?.derefInto());
  }

  /** Returns the verdict of the started test; `undefined` while it waits. */
  verdict(): Omit<SandboxTestResult, "name"> | undefined {
    const text = this.#compartment.call<string>("verdict");
    return text === "" ? undefined : (JSON.parse(text) as Tested);
  }

  call<Result>(name: string, ...args: readonly unknown[]): Result {
    return this.#compartment.call<Result>(name, ...args);
  }

  tick(): Tick {
    return this.#compartment.tick();
  }

  release(): void {
    this.#tests?.release();
    this.#compartment.release();
  }

  /** Compiles one script with an array of functions: entering the isolate for each test would take longer than the tests. */
  #compileTests(tests: SandboxTestSuite["tests"]): ivm.Script | undefined {
    const functionOf = (code: string): string => `async () => {${code}\n}`;
    try {
      return this.#isolate.compileScriptSync(`[${tests.map(({ code }) => functionOf(code)).join(",")}]`, {
        filename: "tests.js",
      });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // A test is TypeScript or invalid: compile each alone, so that the error names it.
      const codes = tests.map(({ name, code }) => this.#readable(functionOf, code, `${name}.js`));
      return this.#isolate.compileScriptSync(`[${codes.map(functionOf).join(",")}]`, { filename: "tests.js" });
    }
  }

  #compile(code: string, filename: string): ivm.Script {
    return this.#isolate.compileScriptSync(
      this.#readable((text) => text, code, filename),
      { filename },
    );
  }

  /** Returns the code as JavaScript. Throws if it is neither JavaScript nor TypeScript. */
  #readable(wrap: (code: string) => string, code: string, filename: string): string {
    const compiles = (text: string): string => {
      this.#isolate.compileScriptSync(wrap(text), { filename });
      return text;
    };
    try {
      return compiles(code);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      try {
        return compiles(stripTypes(code, filename).code);
      } catch {
        throw new Error(`the test code ${filename} cannot be read: ${error.message}`, { cause: error });
      }
    }
  }
}
