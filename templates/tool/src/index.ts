import { definePlugin } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { notes, options } from "./notes.ts";

export default definePlugin({
  name: "mrlm-my-tool",
  options,
  environments: [environment],
  tools: { "my-tool@1": (_context, given) => notes(given) },
});
