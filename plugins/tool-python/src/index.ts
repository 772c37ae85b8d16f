/** Python for policies: the toolset `python@1`, with a session of `sandbox:python` for each episode. */
import { definePlugin } from "@mrlm/kit";
import { limitsOf } from "@mrlm/kit/options";
import { options } from "./options.ts";
import { PythonToolset } from "./python-toolset.ts";

export default definePlugin({
  name: "@mrlm/tool-python",
  options,
  tools: {
    "python@1": async ({ sandbox }, { idle_ms, limits }) =>
      new PythonToolset(await sandbox("python"), { idleMs: idle_ms, limits: limitsOf(limits) }),
  },
  examples: {
    tools: {
      "python@1": {
        files: { "data.csv": "1,2\n" },
        calls: [
          { tool: "python", args: { code: "import random\nx = sum(map(int, open('data.csv').read().split(',')))" } },
          { tool: "python", args: { code: "x, random.random()" } },
        ],
        state: {
          change: { tool: "python", args: { code: "y = 1\nopen('new', 'w').close()" } },
          read: { tool: "python", args: { code: "import os\n'y' in globals(), os.listdir()" } },
        },
        slow: { tool: "python", args: { code: "import time\ntime.sleep(9)" } },
      },
    },
  },
});
