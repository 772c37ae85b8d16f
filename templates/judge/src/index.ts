import { definePlugin, textMessage } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { lettersJudge, options } from "./judge.ts";

export default definePlugin({
  name: "mrlm-my-judge",
  options,
  environments: [environment],
  judges: { "my-judge@1": (_context, given) => lettersJudge(given) },
  // `mrlm check` and `pluginContract` try the judge with these conversations.
  examples: {
    judges: {
      "my-judge@1": [
        {
          request: {
            turns: [
              { agent: "one", message: textMessage("assistant", "hgf") },
              { agent: "other", message: textMessage("assistant", "f") },
            ],
            agents: ["one", "other"],
            task: { id: "train/0", public: { shown: "abcde" }, private: { wanted: "fgh" } },
          },
          best: "one",
        },
      ],
    },
  },
});
