import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Inbox } from "../src/index.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Inbox", () => {
  test("hands on every entry once and in order, however the frames arrive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 6 }), async (sizes) => {
        const handled: number[] = [];
        const inbox = new Inbox<number>((entry) => void handled.push(entry));
        let next = 0;
        for (const [i, size] of sizes.entries()) {
          inbox.add(Array.from({ length: size }, () => next++));
          if (i % 2 === 0) await turn();
        }
        while (inbox.length > 0) await turn();
        expect(handled).toEqual(Array.from({ length: next }, (_, i) => i));
      }),
      { numRuns: 30 },
    );
  });

  test("handles a large frame in several turns of the event loop, and reports its end", async () => {
    let handled = 0;
    let hasEnded = false;
    const inbox = new Inbox<number>(
      () => handled++,
      () => (hasEnded = true),
    );
    inbox.add(Array.from({ length: 100 }, (_, i) => i));
    const first = handled;
    expect([first > 0, first < 100, hasEnded]).toEqual([true, true, false]);
    let last = first;
    while (inbox.length > 0) {
      await turn();
      expect(handled - last).toBeLessThan(100 - first);
      last = handled;
    }
    expect([handled, hasEnded]).toEqual([100, true]);
  });

  test("drains at once, and drops what is left", async () => {
    const handled: number[] = [];
    const inbox = new Inbox<number>((entry) => void handled.push(entry));
    inbox.add(Array.from({ length: 50 }, (_, i) => i));
    inbox.drain();
    expect(handled).toHaveLength(50);
    inbox.add(Array.from({ length: 50 }, (_, i) => i));
    inbox.clear();
    await turn();
    await turn();
    expect([handled.length, inbox.length]).toEqual([50, 0]);
  });
});
