import { nodeProgram, type SandboxBackend } from "@mrlm/sandbox";

const entry = new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url);

/** Backend of the kind `isolated-vm`. */
export const isolatedVmBackend: SandboxBackend = {
  kind: "isolated-vm",
  language: "javascript",
  layers: ["isolate", "node-permissions"],
  hasSnapshots: false,
  program: ({ isJailed }) =>
    nodeProgram({
      entry,
      packages: ["@mrlm/sandbox", "isolated-vm", "node-gyp-build", "node-inspect-extracted"],
      allowAddons: true,
      // An isolate exists for milliseconds: threads for compilation and garbage collection cost more than they save, and the pool uses all cores.
      nodeOptions: ["--single-threaded"],
      // node-gyp-build distinguishes musl from glibc by the first; the child reads its mapped memory from the second.
      readable: ["/etc/alpine-release", "/proc/self/status"],
      isJailed,
    }),
};
