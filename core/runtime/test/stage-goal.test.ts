import { afterAll, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BigramEngine } from "@mrlm/testing";
import { MetricsFile, openRun, type RunEvent, type RunSummary, trainRun } from "@mrlm/runtime";
import { CONFIG, prepare, removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const withGoal = (accuracy: number, every = 1) => ({
  ...CONFIG,
  stages: [{ algorithm: "reinforce", steps: 20, tasks: 4, group_size: 8, until: { accuracy, every, tasks: 6 } }],
  eval: { tasks: 4 },
});

async function train(
  config: Readonly<Record<string, unknown>>,
  extra: Partial<Parameters<typeof trainRun>[0]> = {},
): Promise<{ summary: RunSummary; notices: string[] }> {
  const notices: string[] = [];
  const { prepared, host } = await prepare(config);
  const note = (event: RunEvent): void => void (event.kind === "notice" && notices.push(event.text));
  const summary = await trainRun({
    prepared,
    host,
    engine: new BigramEngine(),
    ...extra,
    onEvent: (event) => (note(event), extra.onEvent?.(event)),
  });
  return { summary, notices };
}

const rows = (directory: string): { kind: string; step: number; accuracy?: number }[] =>
  new MetricsFile(join(directory, "metrics.jsonl")).rows().map(({ seconds: _, ...row }) => row as never);

test("a stage ends at the first measurement that reaches its goal", async () => {
  const { summary, notices } = await train(withGoal(1, 2));
  const goals = rows(summary.directory).filter(({ kind }) => kind === "goal");
  expect(goals.map(({ step }) => step)).toEqual(goals.map((_, i) => 2 * (i + 1)));
  expect(goals.map(({ accuracy }) => accuracy! >= 1)).toEqual(goals.map((_, i) => i === goals.length - 1));
  expect(summary.steps).toBe(goals.at(-1)!.step);
  expect(summary.steps).toBeLessThan(20);
  expect(summary.evaluations.map(({ label }) => label)).toEqual(["start", "reinforce"]);
  expect(notices).toContainEqual(
    `reinforce ends: greedy accuracy 1.000 on training tasks after ${summary.steps} iterations (until 1).`,
  );
});

test("a run that was stopped on the way ends its stage where one that was not does", async () => {
  const whole = await train(withGoal(1, 2));
  const drain = new AbortController();
  const stopped = await train(withGoal(1, 2), {
    drain: drain.signal,
    onEvent: (event) => event.kind === "iteration" && event.step === 2 && drain.abort(),
  });
  expect(stopped.summary).toMatchObject({ status: "stopped", steps: 2 });
  const { run, checkpoint } = await openRun(stopped.summary.directory, () => undefined);
  const { summary } = await train(withGoal(1, 2), { run, ...(checkpoint && { checkpoint }) });
  expect(rows(summary.directory)).toEqual(rows(whole.summary.directory));
  const weights = (directory: string): Buffer => readFileSync(join(directory, "model", "weights.bin"));
  expect(weights(summary.directory)).toEqual(weights(whole.summary.directory));
});

test("a goal that was not reached is reported at the end of the stage", async () => {
  const never = {
    ...withGoal(1, 3),
    environments: [{ id: "letters" }],
    stages: [
      { algorithm: "reinforce", steps: 2, tasks: 1, group_size: 2, learning_rate: 1e-9, until: { accuracy: 1 } },
    ],
  };
  const { summary, notices } = await train(never);
  expect(summary).toMatchObject({ status: "finished", steps: 2 });
  expect(notices).toContainEqual(
    expect.stringMatching(
      /^reinforce ends without reaching its goal: greedy accuracy 0\.\d{3} on training tasks after 2 iterations \(until 1\)\.$/,
    ),
  );
});
