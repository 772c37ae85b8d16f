import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const script = fileURLToPath(new URL("support/reset-differences.ts", import.meta.url));

test("Pyodide's interpreter is after a reset what it was: memory, stack pointer, files, descriptors, working directory", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--no-warnings", "--conditions=mrlm-source", script]);
  const all = ["memory", "folder", "nodes", "streams", "nextInode"];
  expect(JSON.parse(stdout)).toEqual([
    { ending: "ok", before: all, after: [] },
    // The stack pointer is a global of WebAssembly, which a copy of the memory does not restore.
    { ending: "ProgramExit", before: ["stackPointer", "memory"], after: [] },
    { ending: "ok", before: all, after: [] },
  ]);
}, 180_000);
