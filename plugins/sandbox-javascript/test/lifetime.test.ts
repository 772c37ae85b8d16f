import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { Lifetime } from "../src/child/lifetime.ts";

describe("timers of a request", () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test("are due after its first one, and soon after its deadline", () => {
    let now = 1000;
    jest.spyOn(performance, "now").mockImplementation(() => now);
    const lifetime = new Lifetime(100);
    const first = now + lifetime.timerMs();
    expect(first).toBe(1100);
    for (let timers = 1; timers < 1000; timers++) {
      now += 0.11;
      const due = now + lifetime.timerMs();
      expect(due).toBeGreaterThan(first);
      expect(due).toBeLessThanOrEqual(Math.max(1100, now) + 6);
    }
    // The limit of timers is reached.
    expect(lifetime.timerMs()).toBe(0);
  });
});
