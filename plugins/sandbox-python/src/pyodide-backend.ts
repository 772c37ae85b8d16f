import { nodeProgram, type SandboxBackend } from "@mrlm/sandbox";

const entry = new URL(import.meta.url.endsWith(".ts") ? "./pyodide/supervisor.ts" : "./pyodide/supervisor.js", import.meta.url);

/** Children of the kind `pyodide`: Python compiled to WebAssembly. They need nothing on the machine. */
export const pyodideBackend: SandboxBackend = {
  kind: "pyodide",
  language: "python",
  hasSnapshots: true,
  program: ({ isJailed }) => ({
    ...nodeProgram({
      entry,
      packages: ["@mrlm/sandbox", "@mrlm/sandbox-python", "pyodide"],
      nodeOptions: ["--allow-child-process", "--allow-worker", "--max-old-space-size=256"],
      isJailed,
    }),
    forks: true,
  }),
};
