// Child process that the pool starts: the trusted half of the kind `pyodide`. It serves requests and runs the tests in its own interpreter; a runner,
// which is a separate process, runs the submissions.
import { type Answer, type ChildRequest, type ChildResult, readResult, serveRequests } from "@mrlm/sandbox/child";
import type { JsonValue } from "@mrlm/spec";
import { readBootImage } from "./boot-image.ts";
import { CheckerInterpreter } from "./checker-interpreter.ts";
import { RunnerEnded, RunnerProcess } from "./runner-process.ts";
import type { ChildRole } from "./runner-protocol.ts";

const entry = new URL(import.meta.url.endsWith(".ts") ? "./runner.ts" : "./runner.js", import.meta.url);

const [image, role] = process.argv.slice(2) as [string, ChildRole];

/** Maximum characters of an outcome; an unmodified runner sends no more (`LONGEST` of codec.py). */
const LONGEST = 8 * 1024 * 1024;
/** Growth after which a runner is replaced: starting a new child takes less time than restoring it. */
const MOST_GROWTH = 192 * 1024 * 1024;
/**
 * Memory that this process and its runner may use themselves while a submission runs: compiled code, values that are sent to the tests, files. The
 * interpreter enforces the memory limit of a submission exactly, so that the momentary size of the processes decides no verdict.
 */
const OWN_BYTES = 192 * 1024 * 1024;

// The runner and the checker start at the same time.
let runner = new RunnerProcess(entry, image);
const checker = role === "session" ? undefined : await CheckerInterpreter.start(readBootImage(image));
if (!runner.isPristine()) throw new Error("The runner's process did not start.");
serveRequests(carryOut, { ownBytes: OWN_BYTES });

function carryOut(request: ChildRequest, answer: Answer): ChildResult {
  switch (request.op) {
    case "run":
      return fresh(answer, () => (begin(request, "run", request.submission), end()));
    case "test":
      return fresh(answer, () => test(request, answer));
    case "open":
      return fresh(answer, () => (begin(request, "open", { files: request.files }), end()), { isKept: true });
    case "evaluate":
      return inSession(answer, () => (begin(request, "evaluate", request.submission), end()));
    case "snapshot":
      return inSession(answer, () => ({ verdict: "ok", snapshot: runner.exchange("snapshot") }));
    case "close":
      return close();
    case "restore":
      return inSession(answer, () => (runner.exchange("restore", request.snapshot), { verdict: "ok" }));
  }
}

/** Runs a submission in an unused interpreter. Then the runner resets itself while the parent reads the result. */
function fresh(answer: Answer, act: () => ChildResult, { isKept = false } = {}): ChildResult {
  if (!runner.isPristine()) runner = new RunnerProcess(entry, image);
  if (!runner.isPristine()) throw new Error("The runner's process did not start.");
  const result = inSession(answer, act);
  const spent = runner.isGone || runner.usage.grownBytes > MOST_GROWTH;
  if (!isKept && !spent) runner.send("reset");
  return { ...result, spent };
}

/** Ends a session. The runner resets itself while the parent waits for the next one. */
function close(): ChildResult {
  const spent = runner.isGone || runner.usage.grownBytes > MOST_GROWTH;
  if (!spent) runner.send("reset");
  return { verdict: "ok", spent };
}

/** Runs an input of a session. An interrupted interpreter has an undefined state, so it ends the session. */
function inSession(answer: Answer, act: () => ChildResult): ChildResult {
  runner.onOutput = (stream, text) => void answer.output(stream, text);
  const result = endOf(act);
  const { cpuMs, usedBytes } = runner.usage;
  return { ...result, cpuMs, peakMemoryBytes: usedBytes };
}

function endOf(act: () => ChildResult): ChildResult {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RunnerEnded)) throw error;
    const { reason: _, ...ending } = error.ending;
    return { ...ending, spent: true };
  }
}

function test(request: ChildRequest & { readonly op: "test" }, answer: Answer): ChildResult {
  if (checker === undefined) throw new Error("This child is for sessions.");
  begin(request, "load", request.submission);
  checker.compile(request.suite);
  const loaded = end();
  if (loaded.verdict !== "ok" || loaded.exitCode !== undefined) return loaded;
  answer.testing();
  return (
    checker.run(
      (message) => runner.ask(message),
      (index, verdict) => answer.tested(index, verdict),
    ) ?? loaded
  );
}

/** Sends limits and input to the runner, and the submission to Python. */
function begin({ limits }: ChildRequest, kind: string, submission: object): void {
  const { stdin = "", limits: _, ...rest } = submission as { stdin?: string; limits?: unknown };
  runner.send("begin", JSON.stringify({ ...limits, stdin }));
  runner.send("python", `${kind}\n${JSON.stringify({ ...rest, outputBytes: limits.outputBytes })}`);
}

/** Reads the outcome that the runner reports. */
function end(): ChildResult {
  const answer = runner.answer();
  // Reading a longer answer could exceed the deadline.
  if (answer.length > LONGEST) return { verdict: "killed" };
  try {
    const result = readResult(JSON.parse(answer) as JsonValue);
    // A value nested too deeply for JSON would break the answer to the parent.
    JSON.stringify(result.value);
    return result;
  } catch {
    return { verdict: "killed" };
  }
}
