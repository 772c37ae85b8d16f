import { definePlugin } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { numberScorer, options } from "./scorer.ts";

export default definePlugin({
  name: "mrlm-my-scorer",
  options,
  environments: [environment],
  scorers: { "my-scorer@1": (_context, given) => numberScorer(given) },
  // `mrlm check` and `pluginContract` try the scorer with these answers.
  examples: {
    scorers: {
      "my-scorer@1": [
        {
          request: { expected: "12" },
          right: ["12", " 12.0 "],
          wrong: ["13"],
          unreadable: ["twelve", "12 or 13", ""],
          badReference: [{ expected: "twelve", answer: "12" }],
        },
        { request: { expected: "-0.5" }, right: ["-0.5"], wrong: ["0.5"] },
      ],
    },
  },
});
