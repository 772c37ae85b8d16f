import type { JsonValue, SandboxTestResult, SandboxVerdict } from "@mrlm/spec";
import { cutAtBytes } from "../child/answer.ts";
import type { ChildMessage, ChildResult } from "../protocol/messages.ts";
import { readResult, readTested } from "../protocol/read-result.ts";

/** Everything that is known when a request has ended. */
export interface Outcome {
  readonly result: ChildResult;
  /** The parent ended it, or the child died of it. */
  readonly isImposed: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** By index; a hole: never finished. */
  readonly tests: readonly (Omit<SandboxTestResult, "name"> | undefined)[];
  /** The top-level code had ended well. */
  readonly isTesting: boolean;
  readonly wallMs: number;
  /** Of the child with what it started, in steps of a clock tick. */
  readonly cpuMs: number;
  readonly peakMemoryBytes: number;
}

/** What can be known from messages alone. */
type Heard = Omit<Outcome, "cpuMs" | "peakMemoryBytes">;

/** One request and what has been heard of it so far. */
export class Exchange {
  readonly promise: Promise<Heard>;
  readonly #id: string;
  readonly #outputBytes: number;
  readonly #start = performance.now();
  readonly #streams = {
    stdout: { text: "", bytes: 0, isTruncated: false },
    stderr: { text: "", bytes: 0, isTruncated: false },
  };
  readonly #tests: (Omit<SandboxTestResult, "name"> | undefined)[];
  readonly #settle = Promise.withResolvers<Heard>();
  #isTesting = false;

  constructor(id: string, tests: number, outputBytes: number) {
    this.#id = id;
    this.#outputBytes = outputBytes;
    this.#tests = Array.from({ length: tests }, () => undefined);
    this.promise = this.#settle.promise;
    this.promise.catch(() => {});
  }

  /** Takes what the child said; false if it belongs to no request of ours, or comes out of order. */
  hear(message: ChildMessage): boolean {
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
        this.#end(readResult(message.result as unknown as JsonValue), false);
        return true;
    }
  }

  /** The submission was ended. */
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
