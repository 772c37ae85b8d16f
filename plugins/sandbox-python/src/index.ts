/** Python that a model wrote: in Pyodide, or in a jailed CPython, inside supervised child processes. */
import { definePlugin } from "@mrlm/kit";
import { PooledSandbox } from "@mrlm/sandbox";
import { pyodideBackend } from "./pyodide-backend.ts";

export default definePlugin({
  name: "@mrlm/sandbox-python",
  sandboxes: { python: () => new PooledSandbox({ backend: pyodideBackend }) },
});
