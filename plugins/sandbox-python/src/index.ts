/** Sandbox for Python: Pyodide, or a jailed CPython, inside supervised child processes. */
import { definePlugin } from "@mrlm/kit";
import { PooledSandbox } from "@mrlm/sandbox";
import { pythonBackend } from "./backend.ts";
import { pythonOptions } from "./options.ts";

export default definePlugin({
  name: "@mrlm/sandbox-python",
  options: pythonOptions,
  sandboxes: { python: async (_context, options) => new PooledSandbox(await pythonBackend(options)) },
});
