import { type PluginExamples, textMessage } from "@mrlm/kit";

/** Examples for the checks, with a model that scores an answer by the share of the letter "a" in it. */
export const examples: PluginExamples = {
  options: ({ baseUrl }) => ({ endpoint: { base_url: baseUrl, model: "example", max_retries: 0 } }),
  endpoint({ messages }) {
    const text = messages.at(-1)?.content ?? "";
    return `reward:${(text.match(/a/g) ?? []).length / Math.max(1, text.length)}`;
  },
  scorers: {
    "reward-model@1": [{ request: { question: "Write a.", expected: "" }, right: ["aaaa"], wrong: ["bbbb", "b"] }],
  },
  judges: {
    "reward-model@1": [
      {
        request: {
          question: "Write a.",
          turns: [
            { agent: "pro", message: textMessage("assistant", "aaa") },
            { agent: "con", message: textMessage("assistant", "bbb") },
          ],
          agents: ["pro", "con"],
          task: { id: "train/0", public: {}, private: {} },
        },
        best: "pro",
      },
    ],
  },
};
