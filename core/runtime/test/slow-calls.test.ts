import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { Logger } from "@mrlm/spec";
import { reportingSlow } from "../src/rollouts/slow-calls.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function recording(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const ignore = (): void => undefined;
  return { logger: { debug: ignore, info: ignore, error: ignore, warn: (line) => void lines.push(line) }, lines };
}

test("D6: a call of an environment that takes longer than 15 s is reported once, with environment, task and phase", async () => {
  const { logger, lines } = recording();
  const { promise, resolve } = Promise.withResolvers<number>();
  const call = { environment: "math@2", phase: "step", logger } as const;
  const works = ["train/3", "train/8"].map((task) => reportingSlow({ ...call, task }, () => promise));
  await reportingSlow({ ...call, task: "train/9" }, async () => undefined);
  await jest.advanceTimersByTimeAsync(14_000);
  expect(lines).toEqual([]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(lines).toEqual([
    "Environment math@2 has worked for 15 s on the step of task train/3, and 1 more. The step continues.",
  ]);
  resolve(7);
  expect(await Promise.all(works)).toEqual([7, 7]);
});
