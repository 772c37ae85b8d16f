import type { SandboxTestResult, SandboxTestSuite } from "@mrlm/spec";
import type ivm from "isolated-vm";
import type { Tested } from "../guest/judge.ts";
import { Compartment, type Tick } from "./compartment.ts";
import type { Turn } from "./turn.ts";
import { stripTypes } from "./typescript.ts";

/** The isolate of trusted test code, in a context that no earlier tests have seen. */
export class Judge {
  readonly #compartment: Compartment;
  readonly #isolate: ivm.Isolate;
  #harness: ivm.Script | undefined;
  #tests: readonly ivm.Script[] = [];

  /** `callPlayer` is a callback that calls into the submission. */
  constructor(isolate: ivm.Isolate, callPlayer: ivm.Callback, turn: Turn) {
    this.#isolate = isolate;
    this.#compartment = new Compartment(isolate, "judge", [callPlayer], turn);
  }

  /** Defines the entry points, and reads all test code. Throws for code that cannot be read: that is no fault of the submission. */
  prepare({ entryPoints, harness = "", tests }: SandboxTestSuite): void {
    this.#compartment.call("define", JSON.stringify(entryPoints));
    this.#harness = this.#compile(harness, "", "", "harness.js");
    this.#tests = tests.map(({ name, code }) => this.#compile("(async () => {", code, "\n})", `${name}.js`));
  }

  /** Runs the set-up code. */
  setUp(): void {
    const { context } = this.#compartment;
    this.#compartment.enter((timeout) => void this.#harness?.runSync(context, { timeout, reference: true }));
  }

  /** Begins the test at this position. */
  start(index: number): void {
    const { context } = this.#compartment;
    const test = this.#compartment.enter((timeout) => (this.#tests[index] as ivm.Script).runSync(context, { timeout, reference: true }));
    this.#compartment.call("start", test.derefInto());
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
    this.#compartment.release();
  }

  #compile(opening: string, code: string, closing: string, filename: string): ivm.Script {
    const options = { filename, columnOffset: 0 - opening.length };
    try {
      return this.#isolate.compileScriptSync(opening + code + closing, options);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      try {
        return this.#isolate.compileScriptSync(opening + stripTypes(code, filename).code + closing, options);
      } catch {
        throw new Error(`the test code ${filename} cannot be read: ${error.message}`);
      }
    }
  }
}
