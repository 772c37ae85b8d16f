import { nodeProgram, type SandboxBackend } from "@mrlm/sandbox";

const entry = new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./child.js", import.meta.url);

/** Children of the kind `isolated-vm`. */
export const isolatedVmBackend: SandboxBackend = {
  kind: "isolated-vm",
  language: "javascript",
  hasSnapshots: false,
  program: ({ isJailed }) =>
    nodeProgram({
      entry,
      packages: ["@mrlm/sandbox", "isolated-vm", "node-gyp-build"],
      allowAddons: true,
      readable: ["/etc/alpine-release"], // how node-gyp-build tells musl from glibc
      isJailed,
    }),
};
