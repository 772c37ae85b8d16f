import { toolsetContract } from "@mrlm/testing";
import { options } from "../src/options.ts";
import { WebToolset } from "../src/web-toolset.ts";

toolsetContract({
  name: "tool-web",
  make: () => new WebToolset(options.parse({}), {}),
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
});
