import assert from "node:assert/strict";
import { test } from "node:test";
import { type JudgeRequest, textMessage } from "@mrlm/kit";
import { environmentContract, pluginContract } from "@mrlm/testing";
import plugin from "../dist/index.js";
import { lettersJudge } from "../dist/judge.js";

const request = (...texts: readonly string[]): JudgeRequest => ({
  turns: texts.map((text, i) => ({ agent: `agent#${i}`, message: textMessage("assistant", text) })),
  agents: texts.map((_, i) => `agent#${i}`),
  task: { id: "train/0", public: { shown: "abcde" }, private: { wanted: "fgh" } },
});

// Judgements of the examples of the plugin, any texts, determinism, abort.
pluginContract({ plugins: [plugin] });

environmentContract({ plugins: [plugin], environment: "my-judge@1" });

test("the order of the letters does not count, and a part of them earns what the option states", async () => {
  const { signal } = new AbortController();
  const { rewards, verdict } = await lettersJudge({ partial: 0.25 }).judge(
    request("hgf", "fg", "ffg", "abcdefgh", ""),
    { signal },
  );
  const values = Object.values(rewards).map((reward) => (reward.scored ? reward.value : reward.code));
  assert.deepEqual([values, verdict], [[1, 0.25, 0, 0, 0], "agent#0"]);
});

test("a task without wanted letters is unscored for every agent", async () => {
  const { signal } = new AbortController();
  const task = { id: "train/0", public: {}, private: {} };
  const { rewards } = await lettersJudge({ partial: 0 }).judge({ ...request("a", "b"), task }, { signal });
  assert.deepEqual(
    Object.values(rewards).map(({ scored }) => scored),
    [false, false],
  );
});
