import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "@jest/globals";
import type { JsonObject, StepResult } from "@mrlm/kit";
import { bareEnvironment } from "@mrlm/testing";
import { python } from "../src/index.ts";
import { pythonTest as test } from "./support/python.ts";

const name = `${fileURLToPath(new URL("support/faulty.py", import.meta.url))}:Checked`;

async function answered(answer: string, options: JsonObject = {}): Promise<StepResult | undefined> {
  const given = { kind: "reasoning_gym", name, processes: 1, step_seconds: 1, ...options };
  const { play } = await bareEnvironment(python, given, {});
  return (await play("train/0", [`<answer>${answer}</answer>`]))[0];
}

describe("a checker", () => {
  test("scores answers", async () => {
    expect(await answered("0")).toMatchObject({ rewards: { agent: { value: 1, components: { score: 1 } } } });
    expect(await answered("-1")).toMatchObject({ rewards: { agent: { value: 0, components: { score: 0 } } } });
  });

  test.each(["raise", "exit", "spin", "nan"])(
    "that fails at the answer %p, and not at the reference: wrong",
    async (answer) => {
      const wrong = { scored: true, value: 0, components: { score: 0, unreadable: 1 } };
      expect(await answered(answer)).toMatchObject({ rewards: { agent: wrong }, terminated: { agent: true } });
    },
  );

  test.each(["spin", "exit"])(
    "that ends its process at three answers %p scores right ones behind them",
    async (answer) => {
      const options = { step_seconds: 0.5, kwargs: { case: answer } };
      const { play } = await bareEnvironment(python, { kind: "reasoning_gym", name, processes: 1, ...options }, {});
      const score = async (each: string): Promise<unknown> =>
        (await play("train/0", [`<answer>${each}</answer>`]))[0]?.rewards["agent"];
      const rewards = await Promise.all([answer, answer, answer, "0", "0"].map(score));
      const values = [0, 0, 0, 1, 1].map((value) => expect.objectContaining({ scored: true, value }));
      expect(rewards).toEqual(values);
    },
  );

  test("that evaluates answers starts nothing and writes nothing for them", async () => {
    const path = join(tmpdir(), `mrlm-answer-${process.pid}`);
    const python = (code: string): string => `eval __import__("os").${code}`;
    const touch = JSON.stringify(`touch ${path}`);
    const wrong = { scored: true, value: 0, components: { score: 0, unreadable: 1 } };
    for (const code of [`system(${touch})`, `popen(${touch}).read()`, `open(${JSON.stringify(path)}, 65)`, "fork()"])
      expect(await answered(python(code))).toMatchObject({ rewards: { agent: wrong } });
    expect(existsSync(path)).toBe(false);
    expect(await answered('eval open("/dev/null").read()')).toMatchObject({
      rewards: { agent: { components: { score: 0 } } },
    });
  });

  test("that fails at the reference answer too: unscored", async () => {
    const failed = { scored: false, code: "BRIDGE_FAILED", message: expect.stringContaining("ValueError: 5") };
    expect(await answered("5", { kwargs: { broken: true } })).toMatchObject({ rewards: { agent: failed } });
  });
});
