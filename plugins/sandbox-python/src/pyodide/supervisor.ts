// The child that the pool starts: the trusted half of the kind `pyodide`. It carries out requests, runs the tests in an interpreter of its own, and has
// submissions run by a runner, which is a process of its own.
import { type Answer, type ChildRequest, type ChildResult, readResult, serveRequests } from "@mrlm/sandbox/child";
import type { JsonValue } from "@mrlm/spec";
import { readBootImage } from "./boot-image.ts";
import { CheckerInterpreter } from "./checker-interpreter.ts";
import { RunnerEnded, RunnerProcess } from "./runner-process.ts";
import type { ChildRole } from "./runner-protocol.ts";

const entry = new URL(import.meta.url.endsWith(".ts") ? "./runner.ts" : "./runner.js", import.meta.url);

const [image, role] = process.argv.slice(2) as [string, ChildRole];

/** Characters of an outcome; an honest runner says no more (`LONGEST` of codec.py). */
const LONGEST = 8 * 1024 * 1024;
/** A runner that has grown by more is not worth emptying: a new child takes less time. */
const MOST_GROWTH = 192 * 1024 * 1024;
/**
 * Memory that this process and its runner may take for themselves while a submission runs: code that V8 compiles, values on their way to the tests, files. The interpreter
 * keeps the limits of a submission by itself, to the byte, so that what the processes weigh at a moment decides no verdict.
 */
const OWN_BYTES = 192 * 1024 * 1024;

// Both start at the same time.
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
    case "restore":
      return inSession(answer, () => (runner.exchange("restore", request.snapshot), { verdict: "ok" }));
  }
}

/** A submission in an interpreter that nobody has used. Afterwards the runner makes itself new, while the parent reads the result. */
function fresh(answer: Answer, act: () => ChildResult, { isKept = false } = {}): ChildResult {
  if (!runner.isPristine()) runner = new RunnerProcess(entry, image);
  if (!runner.isPristine()) throw new Error("The runner's process did not start.");
  const result = inSession(answer, act);
  const spent = runner.isGone || runner.usage.grownBytes > MOST_GROWTH;
  if (!isKept && !spent) runner.send("reset");
  return { ...result, spent };
}

/** What an interpreter that was stopped in the middle holds is of no use to a session. */
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

/** Tells the runner the limits and the input of a submission, and Python to begin with it. */
function begin({ limits }: ChildRequest, kind: string, submission: object): void {
  const { stdin = "", limits: _, ...rest } = submission as { stdin?: string; limits?: unknown };
  runner.send("begin", JSON.stringify({ ...limits, stdin }));
  runner.send("python", `${kind}\n${JSON.stringify({ ...rest, outputBytes: limits.outputBytes })}`);
}

/** How it ended, by its own account. */
function end(): ChildResult {
  const answer = runner.answer();
  // To read this would outlast the deadline.
  if (answer.length > LONGEST) return { verdict: "killed" };
  try {
    const result = readResult(JSON.parse(answer) as JsonValue);
    // A value that is nested too deeply to be written again would break the answer to the parent.
    JSON.stringify(result.value);
    return result;
  } catch {
    return { verdict: "killed" };
  }
}
