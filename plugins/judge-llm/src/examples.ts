import { type JsonValue, type PluginExamples, textMessage } from "@mrlm/kit";
import type { ExampleModelRequest } from "@mrlm/kit/service";

/** Examples for the checks, with a model that compares texts by equality and prefers the agent "pro". */
export const examples: PluginExamples = {
  options: ({ baseUrl }) => ({ endpoint: { base_url: baseUrl, model: "example", max_retries: 0 } }),
  endpoint(request) {
    const participants = itemOf(request, "participants");
    if (participants === undefined) {
      const isEqual = textOf(itemOf(request, "answer")) === textOf(itemOf(request, "correct_answer"));
      return JSON.stringify({
        reasons: "The texts were compared.",
        score: isEqual ? 10 : 0,
        verdict: isEqual ? "equivalent" : "different",
      });
    }
    const isPro = typeof participants === "object" && participants !== null && Object.values(participants)[0] === "pro";
    return JSON.stringify({
      reasons: "It is the first speaker.",
      scores: isPro ? { A: 7, B: 3 } : { A: 3, B: 7 },
      winner: isPro ? "A" : "B",
    });
  },
  judges: {
    "llm@2": [
      {
        request: {
          question: "Cities should ban cars.",
          turns: [
            { agent: "pro", message: textMessage("assistant", "Cars pollute.") },
            { agent: "con", message: textMessage("assistant", "Cars are useful.") },
          ],
          agents: ["pro", "con"],
          task: { id: "train/0", public: {}, private: {} },
        },
        best: "pro",
      },
    ],
  },
  scorers: {
    "llm@2": [
      { request: { question: "1 + 1", expected: "two" }, right: ["two", "Two"], wrong: ["three", "I do not know."] },
    ],
  },
};

/** Returns an item of the data of a prompt, which has one JSON object in each line. */
function itemOf({ messages }: ExampleModelRequest, key: string): JsonValue | undefined {
  const line = messages
    .flatMap(({ content }) => content.split("\n"))
    .find((text) => text.startsWith(`{${JSON.stringify(key)}`));
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, JsonValue>)[key];
}

function textOf(item: JsonValue | undefined): string {
  return String(item).trim().toLowerCase();
}
