import { nodeProgram, type SandboxBackend } from "@mrlm/sandbox";
import { bootImageFile } from "./boot-image-file.ts";
import type { ChildRole } from "./pyodide/runner-protocol.ts";

const entry = new URL(
  import.meta.url.endsWith(".ts") ? "./pyodide/supervisor.ts" : "./pyodide/supervisor.js",
  import.meta.url,
);

/** Backend of the kind `pyodide`: Python compiled to WebAssembly, without an installation. */
export const pyodideBackend: SandboxBackend = {
  kind: "pyodide",
  language: "python",
  layers: ["wasm", "node-permissions"],
  hasSnapshots: true,
  async program({ isJailed, isForSession }) {
    const image = await bootImageFile();
    const program = nodeProgram({
      entry,
      packages: ["@mrlm/sandbox", "@mrlm/sandbox-python", "pyodide"],
      nodeOptions: [
        "--allow-child-process",
        "--allow-worker",
        "--max-old-space-size=256",
        ...(isJailed ? [] : [`--allow-fs-read=${image}`]),
      ],
      isJailed,
    });
    const target = isJailed ? "/app/image" : image;
    const role: ChildRole = isForSession ? "session" : "any";
    return {
      ...program,
      args: [...program.args, target, role],
      mounts: [...program.mounts, { source: image, target }],
      forks: true,
      limitsCpu: true,
    };
  },
};
