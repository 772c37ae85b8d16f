import { afterAll, beforeAll } from "@jest/globals";
import { type ChatServer, judgeContract, pluginContract, startChatServer } from "@mrlm/testing";
import plugin from "@mrlm/judge-llm";
import { debate, judgeOf } from "./support/judge.ts";

pluginContract({ plugins: [plugin] });

let server: ChatServer;
beforeAll(async () => {
  const verdict = { reasons: "r", scores: { reasoning: 7, evidence: 5, responsiveness: 6 }, overall: 6 };
  server = await startChatServer(() => JSON.stringify(verdict));
});
afterAll(async () => await server.close());

judgeContract({
  name: "llm@2, pointwise",
  make: async () => await judgeOf(server, { mode: "pointwise" }),
  examples: [{ request: debate("Cars pollute.", "Cars are useful.") }, { request: debate("Yes.", "No.") }],
});
