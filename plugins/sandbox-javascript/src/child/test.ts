import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, ChildRequest, ChildResult } from "@mrlm/sandbox/child";
import type { SandboxError, SandboxTestResult } from "@mrlm/spec";
import ivm from "isolated-vm";
import type { CallParent } from "../isolate/start.ts";
import { concluded } from "./concluded.ts";
import { Ended } from "./ended.ts";
import type { Isolates } from "./isolates.ts";
import { Checker } from "./checker.ts";
import { Lifetime } from "./lifetime.ts";
import { Runner } from "./runner.ts";
import { withServices } from "./services.ts";
import { settle } from "./settle.ts";
import { Uncaught } from "./uncaught.ts";

/** Maximum depth of nested calls between the isolates. */
const MAX_NESTING = 32;

type TestOutcome = Omit<SandboxTestResult, "name">;

interface TestRun {
  readonly runner: Runner;
  readonly checker: Checker;
  readonly lifetime: Lifetime;
}

interface TestSetting {
  readonly request: ChildRequest & { readonly op: "test" };
  readonly answer: Answer;
  readonly isolates: Isolates;
  readonly lifetime: Lifetime;
  /** Compartments to release at the end. */
  readonly compartments: { release(): void }[];
}

/** Runs a submission in one isolate and its tests in another. */
export function testSubmission(
  request: TestSetting["request"],
  answer: Answer,
  isolates: Isolates,
): Promise<ChildResult> {
  const lifetime = new Lifetime(request.limits.wallMs);
  const compartments: { release(): void }[] = [];
  return concluded(
    () => runTests({ request, answer, isolates, lifetime, compartments }),
    () => compartments.forEach((compartment) => compartment.release()),
  );
}

async function runTests({ request, answer, isolates, lifetime, compartments }: TestSetting): Promise<ChildResult> {
  const { submission, suite, limits } = request;
  const nested = nesting();
  const turn = { lifetime, answer, limits };
  const runner = new Runner({
    isolates,
    submission,
    turn,
    callParent: nested((handle, args) => checker.call<string>("serve", handle, args)),
  });
  compartments.push(runner);
  let calls = 0;
  const callRunner = nested((target, args) => {
    calls += 1;
    return runner.call<string>("serve", target, args);
  });
  const checker = new Checker(isolates.checker(), new ivm.Callback(withServices(callRunner)), turn);
  compartments.push(checker);
  const run = { runner, checker, lifetime };
  runner.load(suite.entryPoints);
  const loaded = await settle(runner, turn, "bound");
  if (loaded.verdict !== "ok") return loaded;
  checker.prepare(suite);
  answer.testing();
  const broken = setUp(checker, () => calls > 0);
  for (const index of suite.tests.keys()) answer.tested(index, broken ?? (await runTest(run, index)));
  return { verdict: "ok" };
}

/** Runs the set-up code. A failure after a call of the submission fails every test; before one it throws, and there is no verdict. */
function setUp(checker: Checker, hasCalled: () => boolean): TestOutcome | undefined {
  try {
    checker.setUp();
    return undefined;
  } catch (error) {
    if (error instanceof Ended) throw error;
    const failure = `${(error as Error).name}: ${(error as Error).message}`;
    if (!hasCalled()) throw new Error(`the set-up code of the tests failed: ${failure}`, { cause: error });
    return { verdict: "failed", message: `in the set-up of the tests: ${failure}` };
  }
}

async function runTest(run: TestRun, index: number): Promise<TestOutcome> {
  const { checker } = run;
  try {
    checker.start(index);
    for (;;) {
      const verdict = checker.verdict();
      if (verdict !== undefined) return verdict;
      if (!(await waitForTimers(run))) return { verdict: "failed", message: stuck("The test").message };
    }
  } catch (error) {
    if (error instanceof Ended) throw error;
    if (error instanceof Uncaught)
      return { verdict: "failed", message: `${error.error.name}: ${error.error.message}`, error: error.error };
    return { verdict: "failed", message: `${(error as Error).name}: ${(error as Error).message}` };
  }
}

/** Runs timers of both isolates and passes settled promises across; sleeps until the next timer. Returns false if nothing is pending. */
async function waitForTimers({ runner, checker, lifetime }: TestRun): Promise<boolean> {
  const [here, there] = [runner.tick(), checker.tick()];
  for (const text of here.settled) checker.call("settle", text);
  for (const text of there.settled) runner.call("settle", text);
  if (there.uncaught !== undefined) throw new Error(`in a callback of the test: ${there.uncaught}`);
  if (here.ran || there.ran || here.settled.length + there.settled.length > 0) return true;
  const waits = [here.nextMs, there.nextMs].filter((ms) => ms >= 0);
  if (waits.length === 0) return false;
  const pauseMs = Math.min(...waits, lifetime.leftMs);
  if (pauseMs > 0) await sleep(pauseMs);
  return true;
}

function stuck(who: string): SandboxError {
  const message = `${who} waits for a promise that never settles.`;
  return { name: "Error", message, trace: `Error: ${message}` };
}

/** Limits nested calls between the isolates, which share one stack. */
function nesting(): (call: CallParent) => CallParent {
  let depth = 0;
  return (call) => (target, args) => {
    if (depth >= MAX_NESTING)
      throw new RangeError(
        `More than ${MAX_NESTING} calls between the submission and its tests lie within each other.`,
      );
    depth += 1;
    try {
      return call(target, args);
    } finally {
      depth -= 1;
    }
  };
}
