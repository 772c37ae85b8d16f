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
