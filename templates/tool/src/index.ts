import { definePlugin } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { notes, options } from "./notes.ts";

export default definePlugin({
  name: "mrlm-my-tool",
  options,
  environments: [environment],
  tools: { "my-tool@1": (_context, given) => notes(given) },
  // `mrlm check` and `pluginContract` try the tools with these calls.
  examples: {
    tools: {
      "my-tool@1": {
        calls: [
          { tool: "write_note", args: { title: "sum", content: "12" } },
          { tool: "read_notes", args: {} },
        ],
        state: {
          change: { tool: "write_note", args: { title: "sum", content: "12" } },
          read: { tool: "read_notes", args: {} },
        },
      },
    },
  },
});
