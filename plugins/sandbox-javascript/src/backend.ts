import { nodeProgram, type SandboxBackend } from "@mrlm/sandbox";

const entry = new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url);

/** Children of the kind `isolated-vm`. */
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
      // An isolate lives for milliseconds: threads that compile and collect for it cost more than they save, and the pool has a process for each core.
      nodeOptions: ["--single-threaded"],
      // How node-gyp-build tells musl from glibc, and where the child reads how much it has mapped.
      readable: ["/etc/alpine-release", "/proc/self/status"],
      isJailed,
    }),
};
