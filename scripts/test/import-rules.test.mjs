import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { importFolders, root } from "../lib/repository.mjs";

/** A small repository with the names of this one: folder -> package. */
const packages = {
  "core/spec": "@mrlm/spec",
  "core/kit": "@mrlm/kit",
  "core/wire": "@mrlm/wire",
  "core/client": "@mrlm/client",
  "core/server": "@mrlm/server",
  "core/dialects": "@mrlm/dialects",
  "core/runtime": "@mrlm/runtime",
  "core/sandbox": "@mrlm/sandbox",
  "core/store": "@mrlm/store",
  "core/testing": "@mrlm/testing",
  "environments/math": "@mrlm/environment-math",
  "plugins/ai-sdk": "@mrlm/ai-sdk",
  "plugins/sandbox-python": "@mrlm/sandbox-python",
  "plugins/tool-web": "@mrlm/tool-web",
  "algorithms/grpo": "@mrlm/grpo",
  "examples/elements": "elements",
  "templates/algorithm": "mrlm-algorithm",
  "node_modules/zod": "zod",
  "node_modules/@grpc/grpc-js": "@grpc/grpc-js",
  "node_modules/isolated-vm": "isolated-vm",
  "node_modules/@standard-schema/spec": "@standard-schema/spec",
};

/** Source files with the rules that each breaks. */
const forbidden = {
  "core/spec/src/a.ts": ['import "zod";', ["spec-imports-nothing"]],
  "core/spec/src/b.ts": ['import "node:fs";', ["spec-imports-nothing"]],
  "core/spec/src/c.ts": ['import type { X } from "@mrlm/kit";', ["spec-imports-nothing"]],
  "core/spec/src/d.ts": ['import { X } from "@standard-schema/spec";', ["standard-schema-only-as-a-type"]],
  "core/kit/src/a.ts": ['export { X } from "@mrlm/runtime";', ["core-kit-imports"]],
  "core/wire/src/a.ts": ['import type { X } from "@mrlm/kit";', ["core-wire-imports"]],
  "core/client/src/a.ts": ['import "@mrlm/kit";', ["core-client-imports"]],
  "core/server/src/a.ts": ['import "@mrlm/runtime";', ["core-server-imports"]],
  "core/server/src/sessions/a.ts": ['import "./b.ts";', ["sessions-and-dialects-need-no-grpc"]],
  "core/server/src/sessions/b.ts": ['import "@mrlm/wire";', ["sessions-and-dialects-need-no-grpc"]],
  "core/dialects/src/a.ts": ['import "@mrlm/runtime";', ["core-dialects-imports"]],
  "core/sandbox/src/a.ts": ['import "@mrlm/kit";', ["core-sandbox-imports"]],
  "core/store/src/a.ts": ['import "@mrlm/kit";', ["core-store-imports"]],
  "core/testing/src/a.ts": ['import "@mrlm/sandbox";', ["core-testing-imports"]],
  "core/runtime/src/h.ts": ['import "@mrlm/server";', ["core-runtime-imports"]],
  "core/runtime/src/a.ts": ['export const x = () => import("@mrlm/grpo");', ["core-stands-alone"]],
  "core/runtime/src/b.ts": ['import "@grpc/grpc-js";', ["grpc-stays-in-three-packages"]],
  "core/runtime/src/c.ts": ['import "../../kit/src/index.ts";', ["packages-by-their-name"]],
  "core/runtime/src/d.ts": ['import "@mrlm/nowhere";', ["no-unresolved"]],
  "core/runtime/src/e.ts": ['import "../test/a.ts";', ["sources-import-no-tests"]],
  "core/runtime/src/f.ts": ['import "./g.ts";', ["no-circular"]],
  "core/runtime/src/g.ts": ['import "./f.ts";', []], // a cycle is reported once
  "core/runtime/src/one/a.ts": ['import "../two/a.ts";', []],
  "core/runtime/src/one/b.ts": ["", []],
  "core/runtime/src/two/a.ts": ["", []],
  "core/runtime/src/two/b.ts": ['import type { X } from "../one/b.ts";', []],
  "core/runtime/test/a.ts": ['import "@mrlm/environment-math";', ["core-stands-alone"]],
  "core/runtime/test/b.ts": ['import "../../../test/support.ts";', ["packages-import-no-other-folder"]],
  "environments/math/src/a.ts": ['import type { X } from "@mrlm/runtime";', ["plugins-import-spec-and-kit"]],
  "environments/math/src/b.ts": ['import "@mrlm/grpo";', ["plugins-never-import-each-other"]],
  "environments/math/src/c.ts": ['import "@mrlm/sandbox";', ["plugins-import-spec-and-kit"]],
  "plugins/tool-web/src/page/a.ts": ['import type { X } from "@mrlm/kit";', ["web-worker-needs-no-core"]],
  "plugins/tool-web/src/search/a.ts": ['import { X } from "@mrlm/kit";', []],
  "environments/math/test/a.ts": ['import "@mrlm/runtime";', ["plugin-tests-import-testing-too"]],
  "algorithms/grpo/src/a.ts": ['import "isolated-vm";', ["isolated-vm-stays-in-its-plugin"]],
  "plugins/sandbox-python/src/a.ts": ['import "@mrlm/testing";', ["sandbox-plugins-import-sandbox-too"]],
  "algorithms/grpo/src/b.ts": ['import "../../../benchmarks/measure.ts";', ["packages-import-no-other-folder"]],
  "plugins/sandbox-python/test/a.ts": ['import "@mrlm/runtime";', ["sandbox-plugin-tests-import-testing-too"]],
  "examples/elements/a.ts": ['import "@mrlm/runtime";', ["plugins-import-spec-and-kit"]],
  "examples/elements/b.ts": ['import "@mrlm/grpo";', ["plugins-never-import-each-other"]],
  "examples/agent/b.ts": ['import "@mrlm/ai-sdk";', []],
  "examples/elements/c.ts": ['import "../../templates/algorithm/src/index.ts";', ["plugins-never-import-each-other"]],
  "examples/elements/test/a.ts": ['import "@mrlm/client";', ["plugin-tests-import-testing-too"]],
  "examples/typescript/a.ts": ['import "isolated-vm";', ["isolated-vm-stays-in-its-plugin"]],
  "templates/algorithm/src/a.ts": ['import "@mrlm/testing";', ["plugins-import-spec-and-kit"]],
  "templates/algorithm/test/a.ts": ['import "@mrlm/runtime";', ["plugin-tests-import-testing-too"]],
  "test/a.ts": ['import "../core/kit/src/index.ts";', ["core-by-its-name"]],
  "examples/typescript/b.ts": ['import "../../algorithms/grpo/src/index.ts";', ["packages-by-their-name"]],
  "benchmarks/store/a.ts": ['import "@grpc/grpc-js";', ["grpc-stays-in-three-packages"]],
  "benchmarks/store/b.ts": ['import "../../test/support.ts";', ["benchmarks-import-no-tests"]],
  "scripts/a.mjs": ['import "zod";', ["scripts-need-no-packages"]],
  "scripts/b.mjs": ['import "@mrlm/kit";', ["scripts-need-no-packages"]],
};

/** Folders with the rules that each breaks. */
const forbiddenFolders = {
  "core/runtime/src/one": ["no-circular-folders"],
  "core/runtime/src/two": ["no-circular-folders"],
};

const allowed = {
  "core/spec/src/ok.ts": 'import type { X } from "@standard-schema/spec";',
  "core/kit/src/ok.ts": 'import "@mrlm/spec"; import "zod"; import "node:fs";',
  "core/dialects/src/ok.ts": 'import "@mrlm/spec"; import "@mrlm/kit"; import "@mrlm/server";',
  "core/runtime/test/ok.ts": 'import "@mrlm/testing"; import "@mrlm/client"; import "../src/index.ts";',
  "environments/math/src/ok.ts": 'import "@mrlm/spec"; import "@mrlm/kit"; import "zod";',
  "environments/math/test/ok.ts": 'import "@mrlm/testing"; import "../src/ok.ts";',
  "plugins/sandbox-python/src/ok.ts": 'import "@mrlm/sandbox"; import "@mrlm/kit";',
  "examples/elements/ok.ts": 'import "@mrlm/spec"; import "@mrlm/kit"; import "zod";',
  "examples/elements/test/ok.ts": 'import "@mrlm/testing"; import "../ok.ts";',
  "examples/typescript/ok.ts": 'import "@mrlm/runtime"; import "@mrlm/grpo";',
  "templates/algorithm/test/ok.ts": 'import "../dist/index.js";',
  "test/support.ts": 'import "@mrlm/runtime"; import "@mrlm/grpo"; import "../benchmarks/measure.ts";',
  "test/e2e/ok.ts": 'import "../../algorithms/grpo/src/index.ts";',
  "benchmarks/measure.ts": 'import "@mrlm/runtime"; import "@mrlm/sandbox-python";',
  "scripts/ok.mjs": 'import "node:fs"; import "./lib/ok.mjs";',
  "scripts/lib/ok.mjs": "",
  "scripts/test/ok.mjs": 'import "zod";',
  "plugins/sandbox-python/test/ok.ts": 'import "@mrlm/testing"; import "@mrlm/sandbox";',
};

/** @type {string} */
let folder;
/** @type {Map<string, Set<string>>} file -> names of the rules that it breaks */
const broken = new Map();

/** @param {string} name @param {string} text */
function write(name, text) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "imports-"));
  for (const [path, name] of Object.entries(packages)) {
    write(`${path}/package.json`, JSON.stringify({ name, type: "module", exports: "./src/index.ts" }));
    write(`${path}/src/index.ts`, "");
    if (path.startsWith("node_modules/")) continue;
    mkdirSync(join(folder, "node_modules", "@mrlm"), { recursive: true });
    symlinkSync(join(folder, path), join(folder, "node_modules", name), "junction");
  }
  for (const [file, [text]] of Object.entries(forbidden)) write(file, `${text}`);
  for (const [file, text] of Object.entries(allowed)) write(file, text);
  cpSync(join(root, "dependency-cruiser.config.mjs"), join(folder, "rules.mjs"));

  const cruiser = join(root, "node_modules", "dependency-cruiser", "bin", "dependency-cruiser.mjs");
  const args = [cruiser, "--config", "rules.mjs", "--output-type", "json", ...importFolders];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect(stderr).toBe("");
  for (const { from, rule } of JSON.parse(stdout).summary.violations) {
    broken.set(from, (broken.get(from) ?? new Set()).add(rule.name));
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("import rules", () => {
  test.each(Object.entries(forbidden))("%s", (file, [, rules]) => {
    expect([...(broken.get(file) ?? [])]).toEqual(rules);
  });

  test.each(Object.entries(forbiddenFolders))("%s", (name, rules) => {
    expect([...(broken.get(name) ?? [])]).toEqual(rules);
  });

  test.each(Object.keys(allowed))("%s is allowed", (file) => {
    expect(broken.get(file)).toBeUndefined();
  });
});
