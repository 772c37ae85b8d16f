import { isTooDeep, type JsonValue, type SandboxTestResult } from "@mrlm/spec";
import type { SandboxVerdict } from "@mrlm/spec/host";
import { cutAtBytes } from "../child/answer.ts";
import type { ChildMessage, ChildResult } from "../protocol/messages.ts";
import { readResult, readTested } from "../protocol/read-result.ts";

/** Data of a request that has ended. */
export interface Outcome {
  readonly result: ChildResult;
  /** The parent ended the request, or the child exited. */
  readonly isImposed: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** Results by index; a hole for a test that did not finish. */
  readonly tests: readonly (Omit<SandboxTestResult, "name"> | undefined)[];
  /** The top-level code had ended without error. */
  readonly isTesting: boolean;
  readonly wallMs: number;
  /** Processor time of the child and the processes that it started, in steps of a clock tick. */
  readonly cpuMs: number;
  readonly peakMemoryBytes: number;
}

/** Part of an outcome that comes from messages. */
type Reported = Omit<Outcome, "cpuMs" | "peakMemoryBytes">;

/** One request and the messages about it. */
export class Exchange {
  readonly promise: Promise<Reported>;
  readonly #id: string;
  readonly #outputBytes: number;
  readonly #start = performance.now();
  readonly #streams = {
    stdout: { text: "", bytes: 0, isTruncated: false },
    stderr: { text: "", bytes: 0, isTruncated: false },
  };
  readonly #tests: (Omit<SandboxTestResult, "name"> | undefined)[];
  readonly #settle = Promise.withResolvers<Reported>();
  #isTesting = false;

  constructor(id: string, tests: number, outputBytes: number) {
    this.#id = id;
    this.#outputBytes = outputBytes;
    this.#tests = Array.from({ length: tests }, () => undefined);
    this.promise = this.#settle.promise;
    this.promise.catch(() => {});
  }

  /** Processes a message of the child. Returns false if it belongs to another request or is out of order. */
  receive(message: ChildMessage): boolean {
    if (message.type === "ready" || message.type === "failed" || message.id !== this.#id) return false;
    switch (message.type) {
      case "output":
        this.#keep(this.#streams[message.stream], message.text, message.isCut === true);
        return true;
      case "testing":
        this.#isTesting = true;
        return true;
      case "tested":
        if (!this.#isTesting || message.index >= this.#tests.length || this.#tests[message.index] !== undefined)
          return false;
        this.#tests[message.index] = readTested(message.result as unknown as JsonValue);
        return true;
      case "result":
        this.#end(limited(readResult(message.result as unknown as JsonValue)), false);
        return true;
    }
  }

  /** Ends the request with a verdict of the parent. */
  impose(verdict: SandboxVerdict): void {
    this.#end({ verdict }, true);
  }

  reject(error: Error): void {
    this.#settle.reject(error);
  }

  #end(result: ChildResult, isImposed: boolean): void {
    const { stdout, stderr } = this.#streams;
    this.#settle.resolve({
      result,
      isImposed,
      stdout: stdout.text,
      stderr: stderr.text,
      stdoutTruncated: stdout.isTruncated,
      stderrTruncated: stderr.isTruncated,
      tests: this.#tests,
      isTesting: this.#isTesting,
      wallMs: performance.now() - this.#start,
    });
  }

  #keep(stream: { text: string; bytes: number; isTruncated: boolean }, text: string, isCut: boolean): void {
    const kept = cutAtBytes(text, this.#outputBytes - stream.bytes);
    stream.text += kept;
    stream.bytes += Buffer.byteLength(kept);
    stream.isTruncated ||= isCut || kept.length < text.length;
  }
}

/** Refuses a value whose depth would exhaust the stack of those who read it. */
function limited(result: ChildResult): ChildResult {
  if (!isTooDeep(result.value)) return result;
  const { value: _value, shown: _shown, ...rest } = result;
  return { ...rest, verdict: "killed" };
}
