import { definePlugin } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { numberScorer, options } from "./scorer.ts";

export default definePlugin({
  name: "mrlm-my-scorer",
  options,
  environments: [environment],
  scorers: { "my-scorer@1": (_context, given) => numberScorer(given) },
});
