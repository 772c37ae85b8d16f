import assert from "node:assert/strict";
import { test } from "node:test";
import { messageText, textMessage } from "@mrlm/kit";
import { environmentContract, pluginContract } from "@mrlm/testing";
import plugin from "../dist/index.js";
import { reverser } from "../dist/policy.js";

const { signal } = new AbortController();
const observation = (text: string) => ({ agent: "sender", messages: [textMessage("user", text)] });

// Actions in any role, equal episodes with equal seeds, abort, close.
pluginContract({ plugins: [plugin] });

environmentContract({ plugins: [plugin], environment: "my-policy@1" });

/** Returns the answer of a policy with this seed. */
async function answer(text: string, noise: number, seed: number): Promise<string> {
  const sampling = { temperature: 1, maxTokens: 8 };
  const episode = { environment: "any@1", task: "train/0", role: "sender", agent: "sender", seed, sampling, signal };
  const policy = await reverser().open(episode, { noise });
  return messageText((await policy.act(observation(text), { signal })).message);
}

test("without noise it writes backwards what it reads; with noise its letters follow from the seed", async () => {
  assert.equal(await answer("abc", 0, 1), "cba");
  const word = "a".repeat(50);
  assert.notEqual(await answer(word, 0.5, 1), word);
  assert.equal(await answer(word, 0.5, 1), await answer(word, 0.5, 1));
  assert.notEqual(await answer(word, 0.5, 1), await answer(word, 0.5, 2));
});
