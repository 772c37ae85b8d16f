import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { protocolImage, root } from "../lib/repository.mjs";

/** @type {string} */
let folder;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "protocols-"));
  for (const name of ["protos", "buf.yaml"]) cpSync(join(root, name), join(folder, name), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

function breaking() {
  const buf = join(root, "node_modules", "@bufbuild", "buf", "bin", "buf");
  const args = [buf, "breaking", "--against", protocolImage];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return { status, stdout };
}

/** @param {string} from @param {string} to */
function edited(from, to) {
  const file = join(folder, "protos", "mrlm", "env", "v1", "environment.proto");
  const before = readFileSync(file, "utf8");
  expect(before).toContain(from);
  writeFileSync(file, before.replace(from, to));
  const found = breaking();
  writeFileSync(file, before);
  return found;
}

test("the protocols are compatible with the committed image", () => {
  expect(breaking()).toEqual({ status: 0, stdout: "" });
});

test.each([
  ["a removed field", "  Action action = 4;\n", "", 'field "4" with name "action" on message "StepRequest"'],
  ["another number", "uint32 index = 3;", "uint32 index = 9;", 'field "3" with name "index" on message "StepRequest"'],
  ["another type", "uint32 index = 3;", "string index = 3;", 'Field "3" with name "index" on message "StepRequest"'],
])("%s is found", (_, from, to, message) => {
  expect(edited(from, to)).toEqual({ status: 100, stdout: expect.stringContaining(message) });
});

test("a new field is compatible", () => {
  expect(edited("  Action action = 4;\n", "  Action action = 4;\n  string note = 90;\n").status).toBe(0);
});
