import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { PlayTally, type PreparedRun } from "@mrlm/runtime";
import { playProgress, rate } from "../src/console/play-progress.ts";
import { progressBar } from "../src/console/progress-bar.ts";
import { describeRunPlan, episodesPlan, turnLimit } from "../src/console/run-plan.ts";
import { recordedConsole } from "./support/console.ts";

describe("N3: a progress line", () => {
  test("is repeated by a timer with the present text, on a pipe and on a terminal, until its end", async () => {
    for (const columns of [undefined, 100]) {
      const { console, err } = recordedConsole(columns === undefined ? {} : { columns });
      const bar = progressBar(console, "eval", { intervals: { terminal: 10, plain: 10 } });
      let seconds = 0;
      bar.update(0, 3, () => `${seconds++} s`);
      while (!err().includes("0/3  2 s")) await pause(5);
      bar.end();
      const printed = err();
      await pause(40);
      expect(err()).toBe(printed);
      if (columns === undefined) expect(printed).toBe("eval 0/3  0 s\neval 0/3  1 s\neval 0/3  2 s\n");
      // It begins again with an update.
      bar.update(3, 3, "done");
      expect(err()).toContain("3/3  done");
      bar.end();
    }
  });

  test("of brief work is none before the timer, and none with --json", async () => {
    const plain = recordedConsole();
    const brief = progressBar(plain.console, "check", { isBrief: true, intervals: { terminal: 1, plain: 10_000 } });
    brief.update(1, 2, "a");
    brief.update(2, 2, "b");
    brief.end();
    const json = recordedConsole({ json: true });
    const bar = progressBar(json.console, "eval", { intervals: { terminal: 1, plain: 1 } });
    bar.update(1, 2, "a");
    await pause(10);
    bar.end();
    expect([plain.err(), json.err()]).toEqual(["", ""]);
  });
});

test("N12: the line of an evaluation has tokens a second, time left, cut answers and shares since it began", () => {
  const tally = new PlayTally();
  Object.assign(tally, { tokens: 1000, episodes: 7 });
  let now = 5000;
  const { console, err } = recordedConsole({ columns: 400 });
  const bar = progressBar(console, "eval");
  const begin = () => {
    const draw = playProgress(bar, tally, () => now);
    return (done: number): string | undefined => (draw(done, 30), /\d+\/30.*$/.exec(err())?.[0]);
  };
  const shown = begin();
  expect(shown(0)).toBe("0/30  episodes  0.0 s");
  tally.underWay = 30;
  now += 45_000;
  expect(shown(0)).toBe("0/30  episodes  30 answers under way  45.0 s");
  // Ten episodes have ended, four of them in groups that are not complete.
  Object.assign(tally, { tokens: 3600, answers: 10, cut: 5, underWay: 1, episodes: 17 });
  Object.assign(tally, { samplingSeconds: 900, environmentSeconds: 100 });
  now += 55_000;
  expect(shown(6)).toBe(
    "10/30  episodes  left 3 min 20 s  26 tokens/s  2,600 tokens  50 % cut answers  1 answer under way  sampling 90 %  environment 10 %  1 min 40 s",
  );
  expect(shown(30)).not.toMatch(/left|under way/);
  const continued = begin();
  continued(20);
  now += 10_000;
  tally.episodes += 5;
  expect(continued(24)).toContain("25/30  episodes  left 10.0 s");
  bar.end();
  expect([rate(5, 10), rate(123_456, 10)]).toEqual(["0.5 tokens/s", "12,346 tokens/s"]);
});

describe("N3: the plan of a run", () => {
  const plan = { name: "grpo", groups: 8, groupSize: 4 };
  const learner = { plan, sampling: { maxTokens: 256 } };
  const prepared = {
    config: { environments: [{}], eval: { every: 5, samples: 1 }, sampling: { temperature: 1, max_tokens: 100 } },
    stages: [
      { name: "sft", iterations: 20, learners: [{ sampling: {} }] },
      { name: "grpo", iterations: 80, learners: [learner] },
    ],
    environments: [{}],
    evaluation: [{ tasks: ["eval/0", "eval/1"], maxTurns: 3 }],
    descriptions: [{ maxTurns: 6 }, { maxTurns: 6 }],
  } as unknown as PreparedRun;

  test("has steps, groups, episodes and tokens at most, and the evaluations", () => {
    // Before the first stage, every five steps, and after each stage.
    expect(describeRunPlan(prepared)).toBe(
      "sft 20 steps; grpo 80 steps of 8 groups x 4 episodes = 2,560 episodes (at most 3,932,160 tokens: 256 in each of 6 turns); 21 evaluations of 4 episodes (at most 1,200 tokens: 100 in each of 3 turns)",
    );
  });

  test("states the tokens of a turn where turns have no limit", () => {
    expect(episodesPlan(1, 0, 64)).toBe("1 episode (at most 64 tokens a turn)");
    expect(episodesPlan(10, 1, 64)).toBe("10 episodes (at most 640 tokens: 64 an answer)");
    expect([turnLimit(0, undefined), turnLimit(0, 4), turnLimit(6, 4)]).toEqual([0, 4, 4]);
  });
});
