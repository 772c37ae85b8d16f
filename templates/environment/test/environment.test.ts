import assert from "node:assert/strict";
import { test } from "node:test";
import { bareEnvironment, environmentContract } from "@mrlm/testing";
import plugin, { environment } from "../dist/index.js";

// The contract of every environment: seeds, order of calls, secrecy of private fields, the outcomes of the fixtures, in process and over gRPC.
environmentContract({ plugins: [plugin], environment: "my-environment@1" });

test("white space around an answer does not count, and any other text earns nothing", async () => {
  const { tasks, play } = await bareEnvironment(environment, {}, {});
  const answer = String((await tasks.get("train", 0)).private["answer"]);
  const rewardOf = async (text: string) => (await play("train/0", [text]))[0]?.rewards["agent"];
  assert.deepEqual(await rewardOf(` ${answer}\n`), { scored: true, value: 1, components: {} });
  for (const text of [`${answer}a`, answer.toUpperCase(), "", `The answer is ${answer}.`])
    assert.deepEqual(await rewardOf(text), { scored: true, value: 0, components: {} });
});

test("words that end with the last letter of the alphabet continue with the first", async () => {
  const { tasks } = await bareEnvironment(environment, {}, {});
  for (let index = 0; index < 40; index++) {
    const { public: shown, private: hidden } = await tasks.get("eval", index);
    const shifted = [...String(shown["word"])].map((letter) => "abcdefgha"["abcdefgh".indexOf(letter) + 1]).join("");
    assert.equal(hidden["answer"], shifted);
  }
});
