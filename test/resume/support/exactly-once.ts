import { afterAll, expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { type EngineUnit, type ForwardBackwardOptions, type JsonObject, MrlmError, score } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine, lettersEnvironment, trainBigram } from "@mrlm/testing";
import { type BatchLog, batchLogOf } from "./batch-log.ts";
import { differenceOf, type EngineCall, survivingCalls } from "./engine-calls.ts";

/** Groups of odd tasks have no signal, so that GRPO refills its batches. */
const environment = lettersEnvironment({
  reward: (text, { index }) => score(index % 2 === 0 ? [...text].filter((letter) => letter === "a").length : 0),
});

const stages: JsonObject[] = [
  {
    algorithm: "grpo",
    steps: 4,
    prompts_per_step: 4,
    group_size: 4,
    dynamic_sampling: 2,
    scale: "batch_std",
    mismatch: "truncate",
    updates_per_step: 2,
    minibatches: 2,
    learning_rate: 0.3,
  },
  {
    algorithm: "dpo",
    steps: 5,
    prompts: 6,
    group_size: 4,
    pairs_per_group: 1,
    batch_size: 4,
    collect_every: 2,
    learning_rate: 0.1,
  },
];

/**
 * Defines a test of a run of two stages in this process whose engine fails at some of its calls: the resumed run has the weights of an undisturbed one,
 * and so have the calls that led to them.
 * @param most number of failures, spread over all calls
 * @param play section of the configuration
 */
export function exactlyOnceTest(most: number, play: JsonObject = {}): void {
  const output = mkdtempSync(join(tmpdir(), "mrlm-exactly-once-"));
  afterAll(() => rmSync(output, { recursive: true }));

  test(`${most} failures of the engine at calls of any kind, play ${JSON.stringify(play)}: each batch is learnt once`, async () => {
    const alone = new RecordedEngine();
    const weights = await train(alone, join(output, "alone"), play);
    const points = Array.from({ length: most }, (_, i) => 1 + Math.floor((i * (alone.made - 1)) / most));
    for (const failAt of points) {
      const [first, second] = [new RecordedEngine(failAt), new RecordedEngine()];
      const directory = join(output, String(failAt));
      await expect(train(first, directory, play)).rejects.toMatchObject({ code: "ENGINE_EXITED" });
      const hasSameWeights = (await train(second, directory, play)).equals(weights);
      const difference = differenceOf(survivingCalls([first.calls, second.calls]), alone.calls);
      const { abandoned, open } = batchLogOf(runIn(directory) as string) as BatchLog;
      expect({ failAt, hasSameWeights, difference, abandoned, open }).toEqual({
        failAt,
        hasSameWeights: true,
        difference: undefined,
        abandoned: 0,
        open: 0,
      });
    }
  }, 600_000);
}

/** Starts the run of a directory, or resumes it. Returns the bytes of the trained weights. */
async function train({ engine }: RecordedEngine, output: string, play: JsonObject): Promise<Buffer> {
  const run = runIn(output);
  const { weights } = await trainBigram({
    algorithms: [grpo, dpo],
    environments: [environment],
    stages,
    config: { checkpoint: { every: 1, keep: 2 }, output, play },
    engine,
    ...(run === undefined ? {} : { resume: run }),
  });
  return weights;
}

function runIn(output: string): string | undefined {
  const [name] = existsSync(output) ? readdirSync(output) : [];
  return name === undefined ? undefined : join(output, name);
}

/** Engine that records its calls. It fails at one call and at all later ones. */
class RecordedEngine {
  readonly engine: Engine;
  readonly calls: EngineCall[] = [];
  made = 0;

  /** @param failAt number of calls before the one that fails */
  constructor(failAt = Infinity) {
    this.engine = new Proxy<Engine>(new BigramEngine(), {
      get:
        (target, property: keyof Engine) =>
        (...args: never[]) => {
          if (property !== "close" && this.made++ >= failAt)
            return Promise.reject(new MrlmError("ENGINE_EXITED", "The engine was killed."));
          this.#record(property, args[0]);
          return (target[property] as (...given: never[]) => unknown).apply(target, args);
        },
    });
  }

  #record(method: keyof Engine, given: unknown): void {
    if (method === "load" || method === "save") {
      const checkpoint = basename(dirname(given as string)).split(".")[0] as string;
      this.calls.push({ kind: method, checkpoint });
    }
    if (method === "forwardBackward") {
      const { model, units } = given as ForwardBackwardOptions;
      this.calls.push({ kind: "pass", model, digest: digestOf(units.map(tokensOf)) });
    }
    if (method === "optimStep") this.calls.push({ kind: "step", model: "policy", digest: digestOf(given) });
  }
}

/** The content of a unit that reaches an engine in another process. */
function tokensOf({ sequences }: EngineUnit): unknown {
  return sequences.map(({ tokens, mask }) => [Array.from(tokens), Array.from(mask)]);
}

function digestOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);
}
