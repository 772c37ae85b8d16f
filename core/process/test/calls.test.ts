import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "@jest/globals";
import { Calls, type Channel, localChannel, processChannel, threadChannel } from "../src/index.ts";
import { serveCounter, type Counter } from "./support/counter.ts";

const SCRIPT = fileURLToPath(new URL("support/counter.ts", import.meta.url));
const FLAGS = ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"];

interface Other {
  readonly channel: Channel;
  end(): void;
}

const others: Readonly<Record<string, () => Other>> = {
  "this thread": () => {
    const { ends, close } = localChannel();
    serveCounter(ends[1]);
    return { channel: ends[0], end: close };
  },
  "a thread": () => {
    const worker = new Worker(SCRIPT, { execArgv: FLAGS });
    return { channel: threadChannel(worker), end: () => void worker.terminate() };
  },
  "a process": () => {
    const child = fork(SCRIPT, { execArgv: FLAGS, serialization: "advanced" });
    return { channel: processChannel(child), end: () => void child.kill("SIGKILL") };
  },
};

describe.each(Object.keys(others))("calls to %s", (kind) => {
  const open = (onNotice?: (body: unknown) => void): Other & { readonly calls: Calls<Counter> } => {
    const other = (others[kind] as () => Other)();
    return { ...other, calls: new Calls<Counter>(other.channel, onNotice) };
  };

  test("run in order; each has its result or its error", async () => {
    const { calls, end } = open();
    const results = await Promise.allSettled([
      calls.call("add", [2]),
      calls.call("fail", ["QUERY_LIMIT"]),
      calls.call("add", [3]),
    ]);
    expect(results.map((result) => (result.status === "fulfilled" ? result.value : undefined))).toEqual([
      2,
      undefined,
      5,
    ]);
    await expect(calls.call("fail", ["QUERY_LIMIT"])).rejects.toMatchObject({
      code: "QUERY_LIMIT",
      hint: "Ask for less.",
    });
    await expect(calls.call("fail", ["no code"])).rejects.toThrow(/^sent: no code$/);
    end();
  });

  test("an abort reaches the call, also one before it", async () => {
    const { calls, end } = open();
    const controller = new AbortController();
    const waiting = calls.call("wait", [], { signal: controller.signal });
    await calls.call("add", [0]);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(calls.call("wait", [], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "CANCELLED" });
    end();
  });

  test("events of a call arrive before its result, notices in order with results", async () => {
    const seen: unknown[] = [];
    const { calls, end } = open((body) => seen.push(body));
    await calls.call("report", [2], { onEvent: (body) => seen.push(body) });
    expect(seen).toEqual([{ step: 0 }, { step: 1 }, "reported"]);
    calls.notify(7);
    expect(await calls.call("add", [0])).toBe(7);
    end();
  });

  test("a result that cannot be copied is an error", async () => {
    const { calls, end } = open();
    await expect(calls.call("uncopied", [])).rejects.toThrow(/could not be cloned/);
    end();
  });

  test("calls end with the other side, and reject after it", async () => {
    const { calls, channel, end } = open();
    await calls.call("add", [1]);
    const waiting = calls.call("wait", []);
    end();
    await expect(waiting).rejects.toThrow(/ended|closed/);
    expect(channel.closed.aborted).toBe(true);
    await expect(calls.call("add", [1])).rejects.toThrow(/ended|closed/);
  });
});

test("a thread takes buffers without a copy", async () => {
  const worker = new Worker(SCRIPT, { execArgv: FLAGS });
  const calls = new Calls<Counter>(threadChannel(worker));
  const bytes = new Uint8Array(1000).fill(1);
  expect(await calls.call("sum", [bytes], { moved: [bytes.buffer] })).toBe(1000);
  expect(bytes.byteLength).toBe(0);
  await worker.terminate();
});

test("an error keeps what its caller decides by", async () => {
  const { ends } = localChannel();
  serveCounter(ends[1]);
  const calls = new Calls<Counter>(ends[0]);
  for (const isRetryable of [true, false])
    await expect(calls.call("fail", ["RESOURCE_EXHAUSTED", 5, isRetryable])).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      isRetryable,
      retryDelayMs: 5,
    });
});
