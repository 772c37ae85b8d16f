import assert from "node:assert/strict";
import { test } from "node:test";
import { messageText } from "@mrlm/kit";
import { bareEnvironment, environmentContract } from "@mrlm/testing";
import plugin, { environment } from "../dist/index.js";

// The contract of every environment: seeds, order of calls, secrecy of private fields, the outcomes of the fixtures, in process and over gRPC.
environmentContract({ plugins: [plugin], environment: "my-environment@1" });

test("a wrong answer is refused, and the right one then earns half", async () => {
  const { tasks, play } = await bareEnvironment(environment, { attempts: 2, length: 4 }, {});
  const { answer } = (await tasks.get("train", 0)).private;
  const [wrong, right] = await play("train/0", ["zzzz", String(answer)]);
  assert.deepEqual(wrong?.observation.messages.map(messageText), ["No."]);
  assert.deepEqual(wrong?.rewards["agent"], { scored: true, value: 0, components: { correct: 0 } });
  assert.deepEqual(right?.rewards["agent"], { scored: true, value: 0.5, components: { correct: 1 } });
  assert.equal(right?.terminated["agent"], true);
});

test("options outside of the schema are refused", async () => {
  await assert.rejects(bareEnvironment(environment, { length: 0 }, {}));
  await assert.rejects(bareEnvironment(environment, { colour: "red" }, {}));
});
