import { fileURLToPath } from "node:url";
import { describe, expect } from "@jest/globals";
import { type JsonObject, score, type StepResult, textMessage } from "@mrlm/kit";
import { bareEnvironment } from "@mrlm/testing";
import { python } from "../src/index.ts";
import { never } from "./support/play.ts";
import { pythonTest as test } from "./support/python.ts";

const name = `${fileURLToPath(new URL("support/faulty.py", import.meta.url))}:Points`;

/** Plays actions of the agents in turn; "exhausted" is an agent whose context is full. Returns the last result. */
async function played(actions: readonly string[], options: JsonObject = {}): Promise<StepResult | undefined> {
  const given = { kind: "pettingzoo", name, agents: ["a", "b"], reward_range: [-5, 20], processes: 1, ...options };
  const bare = await bareEnvironment(python, given, {});
  const environment = await python.create(bare.context as never, bare.options);
  let { agent } = await environment.reset({ task: "train/0", signal: never });
  let result: StepResult | undefined;
  for (const text of actions) {
    const finishReason = text === "exhausted" ? text : "stop";
    result = await environment.step(
      { agent, message: textMessage("assistant", text), finishReason },
      { signal: never },
    );
    ({ agent } = result.observation);
  }
  return result;
}

describe("an early end gives the points of an agent since its last turn", () => {
  test("where another one writes what cannot be read", async () => {
    expect(await played(["1", "what?"])).toMatchObject({
      rewards: { a: { scored: true, value: 1 }, b: { value: -5, components: { unreadable: 1 } } },
      terminated: { a: true, b: true },
    });
    // `b` has got 0 on its turns, and 3 are due; those of `a` before its last turn have been given.
    expect(await played(["1", "3", "what?"])).toMatchObject({ rewards: { a: { value: -6 }, b: { value: 3 } } });
  });

  test("in a class without the sums of AECEnv", async () => {
    const result = await played(["1", "3", "exhausted"], { kwargs: { plain: true } });
    expect(result?.rewards).toEqual({ b: score(3) });
  });

  test("where the context of another one is full", async () => {
    const result = await played(["2", "exhausted"]);
    expect(result?.rewards).toEqual({ a: score(2) });
    expect(result?.truncated).toEqual({ a: true, b: true });
  });

  test("after max_turns", async () => {
    const result = await played(["2", "4"], { max_turns: 2 });
    expect(result?.rewards).toEqual({ a: score(2), b: score(4) });
  });

  test("and leaves points that are no finite number unscored", async () => {
    expect(await played(["1", "what?"], { kwargs: { factor: "inf" } })).toMatchObject({
      rewards: { a: { scored: false, code: "BRIDGE_REWARD_INVALID" }, b: { value: -5 } },
    });
  });
});
