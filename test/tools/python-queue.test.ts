import { expect, test } from "@jest/globals";
import { playPython } from "./support/python-episodes.ts";

test("8 concurrent episodes over 2 sessions of Python all finish, each with its own state", async () => {
  const { finished, unscored, wrong } = await playPython({
    sandbox: { sessions: 2, session_queue: 6 },
    episodes: 8,
    concurrency: 8,
    thinkMs: 20,
  });
  expect({ finished, unscored, wrong }).toEqual({ finished: 8, unscored: [], wrong: [] });
}, 120_000);

test("a call beyond the queue makes its step unscored, with what to do", async () => {
  const { finished, unscored } = await playPython({
    sandbox: { sessions: 1, session_queue: 1 },
    episodes: 4,
    concurrency: 4,
    thinkMs: 0,
  });
  expect(finished + unscored.length).toBe(4);
  expect(unscored[0]).toMatch(
    /^TOOL_FAILED: Tool python failed: All 1 sessions of the python sandbox are in use, and 1 calls already wait\. Raise `sessions`/,
  );
}, 120_000);
