import type { SandboxTestResult, SandboxTestSuite } from "@mrlm/spec";
import type ivm from "isolated-vm";
import type { Tested } from "../isolate/checker.ts";
import { Compartment, type Tick } from "./compartment.ts";
import type { Turn } from "./turn.ts";
import { stripTypes } from "./typescript.ts";

/** The isolate of trusted test code, in a context that no earlier tests have seen. */
export class Checker {
  readonly #compartment: Compartment;
  readonly #isolate: ivm.Isolate;
  #harness: ivm.Script | undefined;
  #tests: ivm.Reference<unknown> | undefined;

  /** `callRunner` is a callback that calls into the submission. */
  constructor(isolate: ivm.Isolate, callRunner: ivm.Callback, turn: Turn) {
    this.#isolate = isolate;
    this.#compartment = new Compartment(isolate, [callRunner], turn);
  }

  /** Defines the entry points, and reads all test code. Throws for code that cannot be read: that is no fault of the submission. */
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

  /** Begins the test at this position. */
  start(index: number): void {
    this.#compartment.call("start", index, this.#tests?.derefInto());
  }

  /** Of the test that was begun; `undefined` while it waits for something. */
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

  /** One script with an array of functions: crossing into the isolate for each would take longer than the tests. */
  #compileTests(tests: SandboxTestSuite["tests"]): ivm.Script | undefined {
    const functionOf = (code: string): string => `async () => {${code}\n}`;
    try {
      return this.#isolate.compileScriptSync(`[${tests.map(({ code }) => functionOf(code)).join(",")}]`, {
        filename: "tests.js",
      });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      // One of them is TypeScript, or broken: then it is told which.
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

  /** The code as JavaScript. Throws for what is neither that nor TypeScript. */
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
