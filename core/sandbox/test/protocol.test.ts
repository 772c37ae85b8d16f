import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { cutAtBytes } from "../src/child/answer.ts";
import { Exchange } from "../src/pool/exchange.ts";
import { encodeFrame, FrameError, FrameReader } from "../src/protocol/frames.ts";
import { readMessage } from "../src/protocol/messages.ts";
import { readResult } from "../src/protocol/read-result.ts";

describe("frames", () => {
  test("come out as they went in, however they are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (values, sizes) => {
          const bytes = Buffer.concat(values.map(encodeFrame));
          const reader = new FrameReader(1 << 20);
          const received: unknown[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] as number;
            received.push(...reader.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(JSON.stringify(received)).toBe(JSON.stringify(values));
        },
      ),
    );
  });

  test("one that is cut short yields nothing until the rest has come", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, at) => {
        const frame = encodeFrame(value);
        const reader = new FrameReader(1 << 20);
        const cut = at % frame.length;
        expect([...reader.push(frame.subarray(0, cut))]).toEqual([]);
        expect(JSON.stringify([...reader.push(frame.subarray(cut))])).toBe(JSON.stringify([value]));
      }),
    );
  });

  test("one that is too long is refused by its length alone, after those before it were received", () => {
    const reader = new FrameReader(8);
    const received: unknown[] = [];
    const receive = (chunk: Buffer): void => {
      for (const frame of reader.push(chunk)) received.push(frame);
    };
    expect(() => receive(Buffer.concat([encodeFrame("first"), Buffer.from([9, 0, 0, 0])]))).toThrow(FrameError);
    expect(received).toEqual(["first"]);
  });

  test("one that is too long, or no JSON, is refused", () => {
    expect(() => [...new FrameReader(8).push(encodeFrame("longer than that"))]).toThrow(FrameError);
    expect(() => [...new FrameReader(8).push(Buffer.from([1, 0, 0, 0, 0x7b]))]).toThrow(FrameError);
  });
});

test("text is cut between characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, bytes) => {
      const cut = cutAtBytes(text, bytes);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(text) <= bytes ? cut : "").toBe(Buffer.byteLength(text) <= bytes ? text : "");
    }),
  );
});

describe("an exchange", () => {
  const passed = { verdict: "passed" } as const;
  const received = (...messages: object[]): boolean[] => {
    const exchange = new Exchange("nonce", 2, 10);
    return messages.map((message) => exchange.receive({ id: "nonce", ...message } as never));
  };

  test("takes nothing without its nonce", () => {
    expect(received({ type: "result", id: "other", result: { verdict: "ok" } })).toEqual([false]);
  });

  test("takes each test once, after the tests have begun", () => {
    const tested = (index: number): object => ({ type: "tested", index, result: passed });
    expect(received(tested(0))).toEqual([false]);
    expect(received({ type: "testing" }, tested(0), tested(0))).toEqual([true, true, false]);
    expect(received({ type: "testing" }, tested(2))).toEqual([true, false]);
  });

  test("takes of a test what is of the right form, and no more of it than people read", async () => {
    const exchange = new Exchange("nonce", 4, 10);
    const error = { name: "E", message: "m".repeat(20_000), trace: "t" };
    const results = [
      passed,
      { verdict: "failed", message: "m".repeat(20_000), error },
      { verdict: "failed", message: 7, error: { ...error, name: null } },
      { verdict: "well" },
    ];
    exchange.receive({ type: "testing", id: "nonce" });
    for (const [index, result] of results.entries())
      exchange.receive({ type: "tested", id: "nonce", index, result } as never);
    exchange.impose("timeout");
    const message = "m".repeat(10_000);
    expect((await exchange.promise).tests).toEqual([
      passed,
      { verdict: "failed", message, error: { ...error, message } },
      { verdict: "failed" },
      { verdict: "failed" },
    ]);
  });

  test("keeps output up to its limit", async () => {
    const exchange = new Exchange("nonce", 0, 10);
    exchange.receive({ type: "output", id: "nonce", stream: "stdout", text: "123456" });
    exchange.receive({ type: "output", id: "nonce", stream: "stdout", text: "789012" });
    exchange.impose("timeout");
    expect(await exchange.promise).toMatchObject({
      stdout: "1234567890",
      stdoutTruncated: true,
      stderrTruncated: false,
      result: { verdict: "timeout" },
    });
  });

  test("U5: a value that is nested too deeply is none: the submission has broken its interpreter", async () => {
    const exchange = new Exchange("nonce", 0, 10);
    const value = JSON.parse("[".repeat(1_001) + "]".repeat(1_001)) as unknown;
    exchange.receive({ type: "result", id: "nonce", result: { verdict: "ok", value, shown: "[[" } } as never);
    expect((await exchange.promise).result).toEqual({ verdict: "killed" });
  });

  test("malformed messages are none", () => {
    for (const json of [null, 1, [], {}, { type: "result" }, { type: "unknown", id: "nonce" }])
      expect(readMessage(json as never)).toBeUndefined();
  });
});

describe("the result of a run", () => {
  const error = { name: "E", message: "m", trace: "t" };

  test.each([
    [{ verdict: "ok", value: [1, null], shown: "x", exitCode: 0, cpuMs: 1.5 }],
    [{ verdict: "error", error }],
    [{ verdict: "error", error: { ...error, line: 3 }, exitCode: 1, spent: true }],
    [{ verdict: "ok", snapshot: "1" }],
  ])("%j is one", (reported) => expect(readResult(reported)).toEqual(reported));

  test("what is not known of results is left out", () => {
    expect(
      readResult({ verdict: "ok", tests: [{ verdict: "passed" }], stdout: "forged", spent: 1, cpuMs: -1 }),
    ).toEqual({ verdict: "ok" });
  });

  test.each([
    [undefined],
    [null],
    [[]],
    ["ok"],
    [{}],
    [{ verdict: "passed" }],
    [{ verdict: "ok", shown: 7 }],
    [{ verdict: "error", error: null }],
    [{ verdict: "error", error: { ...error, message: 7 } }],
    [{ verdict: "error", error: { name: "E", message: "m" } }],
    [{ verdict: "error", error: { ...error, line: "1" } }],
    [{ verdict: "ok", exitCode: 0.5 }],
    [{ verdict: "ok", snapshot: 1 }],
  ])("%j is none: the submission has broken its interpreter", (reported) =>
    expect(readResult(reported as never)).toEqual({ verdict: "killed" }),
  );
});
