/** Python for policies: the toolset `python@1`, with a session of `sandbox:python` for each episode. */
import { definePlugin, limitsOf } from "@mrlm/kit";
import { options } from "./options.ts";
import { PythonToolset } from "./python-toolset.ts";

export { type PythonToolOptions, PythonToolset } from "./python-toolset.ts";

export default definePlugin({
  name: "@mrlm/tool-python",
  options,
  tools: {
    "python@1": async ({ sandbox }, { idle_ms, limits }) =>
      new PythonToolset(await sandbox("python"), { idleMs: idle_ms, limits: limitsOf(limits) }),
  },
});
