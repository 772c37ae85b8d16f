import type { SandboxTestResult } from "@mrlm/spec";
import type { SandboxTestSuite } from "@mrlm/spec/host";
import type { BootImage } from "./boot-image.ts";
import { Interpreter } from "./interpreter.ts";
import type { Ending } from "./runner-protocol.ts";
import { RunnerEnded } from "./runner-process.ts";
import { pythonFolder } from "./python-folder.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Suites after which the checker is replaced: test code is trusted, but may accumulate memory. */
const MOST_SUITES = 2000;
const MOST_GROWTH = 256 * 1024 * 1024;

type Verdict = Omit<SandboxTestResult, "name">;

/** Interpreter of the tests. It serves many suites, each in its own namespace. */
export class CheckerInterpreter {
  readonly #interpreter: Interpreter;
  #ask: (message: string) => string = () => "";
  #tested: (index: number, verdict: Verdict) => void = () => {};
  #ending: Ending | undefined;
  #answer: Uint8Array = new Uint8Array();
  #suites = 0;
  #wasAsked = false;

  private constructor(interpreter: Interpreter) {
    this.#interpreter = interpreter;
    interpreter.addDevice(
      "parent",
      (into) => this.#read(into),
      (bytes) => this.#receive(decoder.decode(bytes)),
    );
    interpreter.begin("checker");
  }

  static async start(image: BootImage): Promise<CheckerInterpreter> {
    return new CheckerInterpreter(await Interpreter.start(pythonFolder(), image));
  }

  /** Compiles a suite. Throws if it is broken. */
  compile(suite: SandboxTestSuite): void {
    if (++this.#suites % MOST_SUITES === 0 || this.#interpreter.grownBytes > MOST_GROWTH) this.#interpreter.reset();
    check(this.#interpreter.ask(`compile\n${JSON.stringify(suite)}`));
  }

  /** Runs the tests of the suite; `ask` sends messages to the runner. Returns the ending of a submission that ended before the last test. */
  run(ask: (message: string) => string, tested: (index: number, verdict: Verdict) => void): Ending | undefined {
    this.#ask = ask;
    this.#tested = tested;
    this.#ending = undefined;
    this.#wasAsked = false;
    try {
      check(this.#interpreter.ask("run"));
    } catch (error) {
      if (!this.#wasAsked) throw error;
      // The interpreter could not read the submission's answer, which was, for example, nested deeper than its stack.
      this.#interpreter.reset();
      this.#ending ??= { verdict: "killed", reason: "its answer broke the interpreter of the tests" };
    }
    return this.#ending;
  }

  #receive(message: string): void {
    const line = message.indexOf("\n");
    const rest = message.slice(line + 1);
    if (message.startsWith("ask\n")) {
      this.#answer = encoder.encode(this.#asked(rest));
    } else {
      const end = rest.indexOf("\n");
      this.#tested(Number(rest.slice(0, end)), JSON.parse(rest.slice(end + 1)) as Verdict);
    }
  }

  #asked(message: string): string {
    this.#wasAsked = true;
    try {
      return `answer\n${this.#ask(message)}`;
    } catch (error) {
      // An exception must not pass through Python.
      this.#ending = error instanceof RunnerEnded ? error.ending : { verdict: "killed", reason: String(error) };
      return "ended";
    }
  }

  #read(into: Uint8Array): number {
    const part = this.#answer.subarray(0, into.length);
    into.set(part);
    this.#answer = this.#answer.subarray(part.length);
    return part.length;
  }
}

function check(answer: string): void {
  if (answer !== "done") throw new Error(answer.slice(answer.indexOf("\n") + 1));
}
