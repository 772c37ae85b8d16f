/** A shell and edits of files for policies: the toolset `shell@1`, with a workspace for each episode. */
import { definePlugin } from "@mrlm/kit";
import { workspaceLimitsOf } from "@mrlm/kit/options";
import { options } from "./options.ts";
import { ShellToolset } from "./shell-toolset.ts";

export default definePlugin({
  name: "@mrlm/tool-shell",
  options,
  tools: {
    "shell@1": async ({ workspaces }, { image, timeout_ms, limits }) =>
      new ShellToolset(await workspaces("linux"), {
        image,
        timeoutMs: timeout_ms,
        limits: { ...workspaceLimitsOf(limits), timeoutMs: timeout_ms },
      }),
  },
  examples: {
    tools: {
      "shell@1": {
        files: { "data.csv": "1,2\n" },
        calls: [
          { tool: "bash", args: { command: "cat data.csv && x=1" } },
          { tool: "edit", args: { action: "replace", path: "data.csv", old_text: "1,2", new_text: "3" } },
          { tool: "bash", args: { command: "cat data.csv; echo $x" } },
        ],
        state: {
          change: { tool: "bash", args: { command: "y=2; touch new" } },
          read: { tool: "bash", args: { command: "echo $y; ls" } },
        },
        slow: { tool: "bash", args: { command: "sleep 9" } },
      },
    },
  },
});
