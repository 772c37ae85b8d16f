import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { Places } from "../src/session/places.ts";

const WAIT_MS = 1000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function makePlaces(count: number, queue: number, onPressure = (): void => undefined): Places {
  return new Places({
    what: "sessions of the python sandbox",
    hint: "Raise `session_queue`.",
    count,
    queue,
    waitMs: WAIT_MS,
    onPressure,
  });
}

describe("a wait for a place", () => {
  test("is refused beyond the queue, with what to do", async () => {
    const places = makePlaces(1, 1);
    const giveBack = await places.take();
    const waiting = places.take();
    await expect(places.take()).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      message: "All 1 sessions of the python sandbox are in use, and 1 calls already wait.",
      hint: expect.stringMatching(/`session_queue`/),
    });
    giveBack();
    (await waiting)();
    expect(places.free).toBe(1);
  });

  test("ends after its limit, and presses after half of it", async () => {
    let pressed = 0;
    const places: Places = makePlaces(1, 100, () => (pressed = places.pressing));
    await places.take();
    const refusal = places.take().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(pressed).toBe(0);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2);
    expect(pressed).toBe(1);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2);
    expect(await refusal).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      message: "All 1 sessions of the python sandbox are in use, and this call waited 1 s.",
    });
    expect(places.waiting).toBe(0);
  });

  test("presses at once in the second half of the queue", async () => {
    const places = makePlaces(1, 4);
    await places.take();
    const pressing = [1, 2, 3, 4].map(() => {
      places.take().catch(() => undefined);
      return places.pressing;
    });
    expect(pressing).toEqual([0, 0, 1, 2]);
    places.close();
  });
});

type Operation = { readonly kind: "take" | "abort" | "give back" | "pass"; readonly at: number };
const operation = fc.record<Operation>({
  kind: fc.constantFrom("take", "take", "abort", "give back", "pass"),
  at: fc.nat(1000),
});

test("in any order of calls, aborts and waits no place is lost, and places are given in the order of the calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.nat(4),
      fc.array(operation, { maxLength: 60 }),
      async (count, queue, operations) => {
        const places = makePlaces(count, queue);
        const held: (() => void)[] = [];
        const granted: number[] = [];
        const waiting = new Map<number, AbortController>();
        for (const [number, { kind, at }] of operations.entries()) {
          if (kind === "take") {
            const controller = new AbortController();
            waiting.set(number, controller);
            void places.take(controller.signal).then(
              (giveBack) => {
                held.push(giveBack);
                granted.push(number);
                waiting.delete(number);
              },
              () => waiting.delete(number),
            );
          } else if (kind === "abort") [...waiting.values()][at % waiting.size]?.abort();
          else if (kind === "give back") {
            const giveBack = held.splice(at % Math.max(1, held.length), 1)[0];
            giveBack?.();
            giveBack?.();
          } else await jest.advanceTimersByTimeAsync(at);
          await jest.advanceTimersByTimeAsync(0);
          expect(held.length + places.free).toBe(count);
          expect(places.waiting).toBe(waiting.size);
          expect(places.waiting).toBeLessThanOrEqual(queue);
          expect(places.free === 0 || places.waiting === 0).toBe(true);
        }
        expect(granted).toEqual(granted.toSorted((one, other) => one - other));
        await jest.advanceTimersByTimeAsync(WAIT_MS);
        for (const giveBack of held) giveBack();
        expect([places.free, places.waiting]).toEqual([count, 0]);
      },
    ),
    { numRuns: 100 },
  );
});
