import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  answerPlace,
  defineEnvironment,
  definePlugin,
  generatedTasks,
  listedTasks,
  placeAnswer,
  readJsonl,
  singleTurn,
} from "@mrlm/kit";
import { commands } from "./commands.ts";
import { act, call, guessing, never, numberOf, withHost, withSession } from "./guessing.ts";
import type { Rows } from "./row.ts";

/** Returns the text of the tool's result of a call. */
async function hinted(session: Parameters<Parameters<typeof withSession>[0]>[0]): Promise<string> {
  const { observation } = await session.step(call("hint"), { signal: never });
  return JSON.stringify(observation.messages);
}

const sum = singleTurn({
  id: "sum@1",
  description: "Add two numbers.",
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 20, share: 3 }, eval: { size: 5, share: 1 } },
      generate(random) {
        const [a, b] = [random.integer(0, 99), random.integer(0, 99)];
        return { public: { a, b }, private: { sum: a + b }, key: `${a} ${b}` };
      },
    }),
  prompt: ({ a, b }) => `${a} + ${b}?`,
  answer: ({ private: { sum: right } }) => String(right),
  score: (text, { private: { sum: right } }) => Number(text === String(right)),
});

export const verifiers: Rows = {
  "`load_environment(**kwargs)`": async () => {
    assert.equal(defineEnvironment(guessing).id, "guessing@1");
    await assert.rejects(
      withSession(async () => undefined, { most: "many" }),
      { code: "OPTIONS_INVALID" },
    );
  },
  "`SingleTurnEnv(dataset=..., rubric=...)`": () =>
    withHost(
      async (host) => {
        const [shown] = await host.demonstrate({ id: "sum@1" }, ["train/0"]);
        const part = shown?.messages.at(-1)?.parts[0];
        const session = await host.open({ id: "sum@1" });
        await session.reset({ task: "train/0", signal: never });
        const step = await session.step(act(part?.type === "text" ? part.text : ""), { signal: never });
        assert.deepEqual(
          [step.rewards["agent"], step.terminated["agent"]],
          [{ scored: true, value: 1, components: {} }, true],
        );
        await session.close();
      },
      [definePlugin({ name: "sum", environments: [sum] })],
    ),
  "`MultiTurnEnv` with `env_response`, `is_completed`": () =>
    withSession(async (session) => {
      const number = await numberOf(session, 2);
      await session.reset({ seed: 2, signal: never });
      const wrong = await session.step(act("none"), { signal: never });
      const right = await session.step(act(String(number)), { signal: never });
      assert.deepEqual([wrong.terminated, right.terminated], [{ agent: false }, { agent: true }]);
    }),
  "`ToolEnv(tools=[...])`": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      assert.match(await hinted(session), /"tool-result".*"1"/);
    }),
  "`StatefulToolEnv`": () =>
    withSession(async (session) => {
      const results: string[] = [];
      for (let episode = 0; episode < 2; episode++) {
        await session.reset({ seed: 1, signal: never });
        results.push(await hinted(session), await hinted(session));
      }
      assert.notEqual(results[0], results[1]);
      assert.deepEqual(results.slice(0, 2), results.slice(2));
    }),
  "a `datasets.Dataset` with `prompt`, `answer`, `info`": async () => {
    const folder = mkdtempSync(join(tmpdir(), "migrating-"));
    try {
      writeFileSync(
        join(folder, "rows.jsonl"),
        '{"prompt": "1 + 1?", "answer": "2"}\n\n{"prompt": "2 + 2?", "answer": "4"}\n',
      );
      const rows = await readJsonl(join(folder, "rows.jsonl"), "data");
      const source = listedTasks(
        { train: rows.map(({ value }) => value as { prompt: string; answer: string }) },
        (row) => ({
          public: { prompt: row.prompt },
          private: { answer: row.answer },
        }),
      );
      assert.deepEqual(await source.get("train", 1), {
        id: "train/1",
        public: { prompt: "2 + 2?" },
        private: { answer: "4" },
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  "`Rubric(funcs=[...], weights=[...])`": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const { rewards } = await session.step(act("none"), { signal: never });
      assert.deepEqual(rewards["agent"], { scored: true, value: 0, components: { correct: 0 } });
    }),
  "`JudgeRubric`": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const { rewards } = await session.step(act("give up"), { signal: never });
      assert.deepEqual(rewards["agent"], { scored: false, code: "JUDGE_UNDECIDED", message: "No text." });
    }),
  "`Parser`, `XMLParser`": async () => {
    assert.equal(placeAnswer("42", answerPlace.parse("answer")), "<answer>42</answer>");
    assert.equal(placeAnswer("42", answerPlace.parse("boxed")), "\\boxed{42}");
  },
  "`vf-eval ENV -m MODEL -n 20 -r 3`": commands.evalEndpoint,
  "`vf-init NAME`, `prime env init`": commands.create,
  "the Environments Hub, `prime env push`, `prime env install`": "plugins add NAME",
  "`GRPOTrainer`, prime-rl": "train --config FILE",
};
