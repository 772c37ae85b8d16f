// The child process: serves requests, each in new isolates.
import { readFileSync } from "node:fs";
import { type Answer, type ChildRequest, type ChildResult, serveRequests } from "@mrlm/sandbox/child";
import { Isolates } from "./child/isolates.ts";
import { runSubmission } from "./child/run.ts";
import { Session } from "./child/session.ts";
import { testSubmission } from "./child/test.ts";
import { isReaderBroken, stripTypes } from "./child/typescript.ts";

const isolates = new Isolates();
isolates.checker();
// Loads the TypeScript reader before the first submission, whose deadline would include it.
stripTypes("let warm: number;", "warm.ts");

let session: Session | undefined;

serveRequests(async (request, answer) => {
  const before = process.cpuUsage();
  const result = await carryOut(request, answer);
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, ...result, ...(isReaderBroken() ? { spent: true } : {}) };
}, reserved());

function carryOut(request: ChildRequest, answer: Answer): Promise<ChildResult> | ChildResult {
  switch (request.op) {
    case "run":
      return runSubmission(request, answer, isolates);
    case "test":
      return testSubmission(request, answer, isolates);
    case "open":
      session = new Session(request, answer, isolates);
      return { verdict: "ok" };
    case "evaluate":
      if (session !== undefined) return session.evaluate(request, answer);
      break;
    case "close":
      session?.close();
      session = undefined;
      return { verdict: "ok" };
  }
  throw new Error(`This child cannot carry out "${request.op}".`);
}

/** Measures the memory that an isolate maps without using it: about half a gigabyte of tables. */
function reserved(): { reservedBytes?: number } {
  const before = dataBytes();
  const isolate = isolates.runner(0, true);
  isolate.createContextSync();
  const after = dataBytes();
  isolate.dispose();
  return before === undefined || after === undefined ? {} : { reservedBytes: Math.max(0, after - before) };
}

function dataBytes(): number | undefined {
  try {
    return Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1]) * 1024;
  } catch {
    return undefined; // Without /proc there is no kernel limit.
  }
}
