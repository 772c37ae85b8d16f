/** Tools to search for pages and to read them: offline over a folder, or on the web without access to private addresses. */
import { definePlugin } from "@mrlm/kit";
import { options } from "./options.ts";
import { createWebToolset } from "./web-toolset.ts";

export default definePlugin({
  name: "@mrlm/tool-web",
  options,
  tools: { "web@1": ({ dataPath }, options) => createWebToolset(options, { dataPath }) },
  examples: {
    tools: {
      "web@1": {
        files: {
          "rivers/po.html": "<title>Po</title><p>The Po is the longest <a href=italy.md>river of Italy</a>.",
          "rivers/italy.md": "# Italy\n\nThe capital of Italy is Rome.",
          "rows.jsonl": '{"url":"https://example.org/arno","text":"The Arno flows through Florence."}',
        },
        calls: [
          { tool: "search", args: { query: "longest river", count: 2 } },
          { tool: "fetch", args: { url: "https://corpus.invalid/rivers/po.html" } },
          { tool: "fetch", args: { url: "https://example.org/arno", part: 1 } },
        ],
      },
    },
  },
});
