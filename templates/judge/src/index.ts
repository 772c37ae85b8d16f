import { definePlugin } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { lettersJudge, options } from "./judge.ts";

export default definePlugin({
  name: "mrlm-my-judge",
  options,
  environments: [environment],
  judges: { "my-judge@1": (_context, given) => lettersJudge(given) },
});
