import { afterAll, beforeAll } from "@jest/globals";
import { type ChatServer, judgeContract, startChatServer } from "@mrlm/testing";
import { comparison, debate, judgeOf, participantsOf } from "./support/judge.ts";

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer((asked) =>
    asked.body.messages[0]!.content.includes('"winner"')
      ? comparison(asked, Object.values(participantsOf(asked)).toSorted()[0]!)
      : JSON.stringify({ reasons: "r", scores: { reasoning: 7, evidence: 5, responsiveness: 6 }, overall: 6 }),
  );
});
afterAll(async () => await server.close());

const examples = [
  { request: debate("Cars pollute.", "Cars are useful.") },
  { request: debate("Yes.", "No.", { question: "Is it so?" }) },
] as const;
for (const mode of ["pairwise", "pointwise"])
  judgeContract({ name: `llm@1, ${mode}`, make: async () => await judgeOf(server, { mode }), examples });
