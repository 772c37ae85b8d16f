// Side that answers calls: in this thread, as a thread, or as a process.
import { parentPort } from "node:worker_threads";
import { defined, type ErrorCode, MrlmError } from "@mrlm/spec";
import { type Channel, processChannel, serveCalls, type ServedCall, threadChannel } from "../../src/index.ts";

export interface Counter {
  add(number: number): number;
  fail(code: string, retryDelayMs?: number, isRetryable?: boolean): void;
  wait(): void;
  report(count: number): void;
  uncopied(): unknown;
  sum(bytes: Uint8Array): number;
}

export function serveCounter(channel: Channel): void {
  let total = 0;
  const methods = {
    add: (number: number) => (total += number),
    fail: (code: string, retryDelayMs?: number, isRetryable?: boolean) => {
      if (code === "no code") throw new Error(code);
      throw new MrlmError(code as ErrorCode, "It failed.", {
        hint: "Ask for less.",
        ...defined({ retryDelayMs, isRetryable }),
      });
    },
    uncopied: () => () => undefined,
    sum: (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum + byte, 0),
  };
  const notify = serveCalls<Counter>(channel, {
    answer: (method, args, call) => {
      if (method === "wait") return waitForAbort(call);
      if (method !== "report") return (methods[method] as (...given: unknown[]) => unknown)(...args);
      for (let step = 0; step < (args[0] as number); step++) call.send({ step });
      return void notify("reported");
    },
    onNotice: (number) => (total += number as number),
    toSent: (error) => (MrlmError.isInstance(error) ? error : new Error(`sent: ${(error as Error).message}`)),
  });
}

const waitForAbort = ({ signal }: ServedCall): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });

if (parentPort !== null) serveCounter(threadChannel(parentPort));
else if (process.send !== undefined && process.argv[1] === import.meta.filename) serveCounter(processChannel(process));
