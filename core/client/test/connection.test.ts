import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import type { Channel } from "../src/connection/channel.ts";
import { connectionLoss } from "../src/connection/connection-loss.ts";
import { Connection } from "../src/connection/connection.ts";

/** Connection to a server that is reached by the attempts for which `isUp` holds; it records the pauses between attempts. */
class Outage {
  readonly pauses: number[] = [];
  attempts = 0;
  closed = 0;
  isUp: (attempt: number) => boolean = () => true;
  onProbe: () => Promise<void> = async () => undefined;
  readonly connection = new Connection(
    {
      address: "test:1",
      peer: "The server",
      unavailable: "SERVER_UNAVAILABLE",
      failed: "INTERNAL",
      open: () => ({ close: () => void this.closed++ }) as Channel,
      probe: async () => {
        this.attempts++;
        await this.onProbe();
        if (!this.isUp(this.attempts)) throw connectionLoss("connection refused");
      },
    },
    async (milliseconds) => {
      this.pauses.push(milliseconds);
      await sleep(1);
    },
  );
}

let outage: Outage;
afterEach(() => outage.connection.close());

/** Returns a call that loses its first `losses` channels. */
function losing(losses: number): (channel: Channel) => Promise<number> {
  let calls = 0;
  return async () => {
    if (calls++ < losses) throw connectionLoss("connection reset");
    return calls;
  };
}

describe("one outage", () => {
  test("makes one sequence of attempts with growing pauses, however many calls wait for it", async () => {
    outage = new Outage();
    outage.isUp = (attempt) => attempt === 1 || attempt > 8;
    await outage.connection.reach({ waitMs: 10_000 });
    const calls = Array.from({ length: 50 }, () => outage.connection.call(losing(1), { waitMs: 10_000 }));
    expect(await Promise.all(calls)).toEqual(Array(50).fill(2));
    expect([outage.attempts, outage.pauses.length]).toEqual([9, 8]);
    // Jitter is at most 20% to either side of a factor of 1.6.
    const grown = outage.pauses.map((pause, i) => pause / (outage.pauses[0] as number) / 1.6 ** i);
    for (const factor of grown) expect(Math.abs(Math.log(factor))).toBeLessThan(Math.log(1.51));
  });

  test("ends the calls that wait for it with one error, and the next outage starts anew", async () => {
    outage = new Outage();
    outage.isUp = () => false;
    const waiting = Array.from({ length: 5 }, () => outage.connection.reach({ waitMs: 40 }));
    for (const { reason } of (await Promise.allSettled(waiting)) as PromiseRejectedResult[])
      expect(reason).toMatchObject({
        code: "SERVER_UNAVAILABLE",
        isRetryable: false,
        message: "The server could not be reached for 40 ms: connection refused",
      });
    const spent = outage.attempts;
    await sleep(20);
    // At most the attempt that had started is counted.
    expect(outage.attempts - spent).toBeLessThan(2);
    outage.isUp = () => true;
    await outage.connection.reach({ waitMs: 1_000 });
  });

  test("of an answer for each probe but none for a call still has growing pauses and an end", async () => {
    outage = new Outage();
    await expect(outage.connection.call(losing(1_000), { waitMs: 10_000 })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: expect.stringContaining("connection reset"),
    });
    expect(outage.attempts).toBe(20);
    expect(Math.max(...outage.pauses) / Math.min(...outage.pauses)).toBeGreaterThan(20);
    expect(outage.closed).toBe(20);
  });
});

describe("a call that waits", () => {
  test("ends with its signal, with the connection, and at once where it may not wait", async () => {
    outage = new Outage();
    outage.isUp = () => false;
    const controller = new AbortController();
    const aborted = outage.connection.reach({ waitMs: 10_000, signals: [controller.signal] });
    const closed = outage.connection.reach({ waitMs: 10_000 });
    for (const each of [aborted, closed]) each.catch(() => undefined);
    while (outage.attempts < 3) await sleep(1);
    await expect(outage.connection.reach({ waitMs: 0 })).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: "CANCELLED" });
    outage.connection.close();
    await expect(closed).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("gets the error of a probe that another attempt would meet again", async () => {
    outage = new Outage();
    outage.onProbe = async () => {
      throw new MrlmError("ENGINE_EXITED", "The engine was restarted.");
    };
    await expect(outage.connection.reach({ waitMs: 10_000 })).rejects.toMatchObject({ code: "ENGINE_EXITED" });
    expect(outage.attempts).toBe(1);
  });
});
