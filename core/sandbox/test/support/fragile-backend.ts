import { nodeProgram, type SandboxBackend } from "../../src/index.ts";

/** Backend of children that fail on request. */
export const fragileBackend: SandboxBackend = {
  kind: "fragile",
  language: "fragile",
  layers: [],
  hasSnapshots: false,
  program: ({ isJailed }) =>
    nodeProgram({ entry: new URL("fragile-child.ts", import.meta.url), packages: [], isJailed }),
};
