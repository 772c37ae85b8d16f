import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import type { ForwardBackwardOptions, ForwardBackwardResult } from "@mrlm/spec";
import type { Engine, EngineInfo, Sampler } from "@mrlm/spec/host";
import { textMessage } from "@mrlm/kit";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { BigramEngine } from "@mrlm/testing";
import { type RunEvent, trainRun } from "@mrlm/runtime";
import { MetricsFile } from "../src/run/metrics-file.ts";
import { RenderClock } from "../src/rollouts/render-clock.ts";
import { CONFIG, prepare, removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Engine in which a pass takes 1 second and opening a sampler takes 10 seconds of compute time. */
class TimedEngine extends BigramEngine {
  seconds = 0;
  descriptions = 0;

  override async describe(): Promise<EngineInfo> {
    this.descriptions++;
    return { ...(await super.describe()), computeSeconds: this.seconds };
  }

  override forwardBackward(options: ForwardBackwardOptions): Promise<ForwardBackwardResult> {
    this.seconds += 1;
    return super.forwardBackward(options);
  }

  override sampler(...given: Parameters<Engine["sampler"]>): Promise<Sampler> {
    this.seconds += 10;
    return super.sampler(...given);
  }
}

test("the engine seconds of an iteration exclude evaluations and cost one describe()", async () => {
  const engine = new TimedEngine();
  const read: { readonly seconds: number; readonly descriptions: number }[] = [];
  const onEvent = (event: RunEvent): void => {
    if (event.kind === "iteration") read.push({ seconds: event.engineSeconds, descriptions: engine.descriptions });
  };
  const stages = [{ algorithm: "imitate", steps: 6 }];
  const { prepared, host } = await prepare({
    ...CONFIG,
    stages,
    eval: { tasks: 1, every: 3 },
    checkpoint: { every: 0 },
  });
  await trainRun({ prepared, host, engine, onEvent });
  expect(engine.seconds).toBeGreaterThan(30);
  expect(read.map(({ seconds }) => seconds)).toEqual([1, 1, 1, 1, 1, 1]);
  const used = read.slice(1).map(({ descriptions }, i) => descriptions - (read[i]?.descriptions ?? 0));
  // The second reading after iteration 3 leaves out its evaluation.
  expect(used).toEqual([1, 1, 2, 1, 1]);
});

test("D14: the seconds of rendering are in the events and the metrics of iterations", async () => {
  const seconds: number[] = [];
  const onEvent = (event: RunEvent): void => {
    if (event.kind === "iteration") seconds.push(event.renderingSeconds);
  };
  const { prepared, host } = await prepare({ ...CONFIG, stages: [{ algorithm: "reinforce", steps: 3 }] });
  const { directory } = await trainRun({ prepared, host, engine: new BigramEngine(), onEvent });
  expect(seconds).toHaveLength(3);
  expect(seconds.reduce((sum, each) => sum + each)).toBeGreaterThan(0);
  const rows = new MetricsFile(join(directory, "metrics.jsonl")).rows().filter(({ kind }) => kind === "iteration");
  expect(rows).toMatchObject(seconds.map((rendering) => ({ seconds: { rendering } })));
});

test("D14: a stopwatch measures one renderer once, and each lap begins anew", () => {
  const renderer = chatRenderer({ tokenizerFiles: characterTokenizerFiles(), eosTokenIds: [] });
  const clock = new RenderClock();
  const timed = clock.of(renderer);
  expect(clock.of(renderer)).toBe(timed);
  expect(timed.render([textMessage("user", "a")])).toEqual(renderer.render([textMessage("user", "a")]));
  expect(clock.lap()).toBeGreaterThan(0);
  expect(clock.lap()).toBe(0);
});
