import { expect } from "@jest/globals";
import { testPeer } from "../interop/support/peer-python.ts";
import { assistant, call, playProgram } from "./support/play-program.ts";

const ANSWERS = [
  assistant({ type: "thinking", text: "Hm." }, "I look.", call("q7Xk2PzA1", { q: "a" }), call("B", { q: "b" })),
  assistant("Found it."),
];

// The second package does not return the reasoning.
for (const [name, program, segments] of [
  ["the package openai for Python", "loop.py", 1],
  ["the package openai-agents for Python", "agent.py", 2],
] as const)
  await testPeer(`${name} plays a loop with tools`, { folder: "test/agents/openai-python", program }, async (play) => {
    const { result, counts, observations } = await playProgram(async ({ model }) => {
      const { baseURL } = await model.listen();
      return (await play(baseURL, model.apiKey, model.name)) as string;
    }, ANSWERS);
    expect([result, counts["segments"], counts["calls"]]).toEqual(["Found it.", segments, 2]);
    expect(observations[1]?.messages.at(-1)?.parts).toMatchObject([
      { id: "q7Xk2PzA1", content: [{ text: "found a" }] },
      { id: "B", content: [{ text: "found b" }] },
    ]);
  });
