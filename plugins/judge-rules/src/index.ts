import { definePlugin } from "@mrlm/kit";
import { examples } from "./examples.ts";
import { RulesJudge } from "./judge.ts";
import { rulesOptions } from "./options.ts";
import { readPhrases } from "./read-phrases.ts";

/** `judge:rules@1`: a debate judged by phrases, own words and key points, without a model. */
export default definePlugin({
  name: "@mrlm/judge-rules",
  options: rulesOptions.prefault({}),
  judges: {
    "rules@1": (context, options) =>
      new RulesJudge(
        options,
        readPhrases(options.phrases === undefined ? undefined : context.dataPath(options.phrases)),
      ),
  },
  examples: { judges: { "rules@1": examples } },
});
