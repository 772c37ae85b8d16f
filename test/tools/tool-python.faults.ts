// npm run test:faults -- tool-python: a thousand episodes over the 16 sessions of a Python sandbox.
import { expect, test } from "@jest/globals";
import { playPython } from "./support/python-episodes.ts";

const EPISODES = 1000;

test.each([
  { name: "256 at the same time, with the default queue", concurrency: 256, queue: 256 },
  { name: "all at the same time, with a queue for them", concurrency: EPISODES, queue: EPISODES },
])(
  "1,000 episodes over 16 sessions all finish: $name",
  async ({ concurrency, queue }) => {
    const began = performance.now();
    const { finished, unscored, wrong, lost } = await playPython({
      sandbox: { session_queue: queue },
      episodes: EPISODES,
      concurrency,
      thinkMs: 3000,
    });
    const seconds = (performance.now() - began) / 1000;
    console.log(
      `${finished} episodes, ${3 * finished} calls, ${lost} reports of a lost state, ${seconds.toFixed(0)} s`,
    );
    expect({ finished, unscored, wrong }).toEqual({ finished: EPISODES, unscored: [], wrong: [] });
  },
  600_000,
);
