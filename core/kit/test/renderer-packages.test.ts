import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const core = fileURLToPath(new URL("../..", import.meta.url));
const peers = (
  JSON.parse(readFileSync(join(core, "kit", "package.json"), "utf8")) as { peerDependencies: Record<string, string> }
).peerDependencies;

let project: string;

/** A project that has installed @mrlm/kit without its optional peer dependencies. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "kit-alone-"));
  mkdirSync(join(project, "node_modules", "@mrlm"), { recursive: true });
  for (const name of ["kit", "spec"]) {
    for (const part of ["src", "package.json"])
      cpSync(join(core, name, part), join(project, name, part), { recursive: true });
    symlinkSync(join(project, name), join(project, "node_modules", "@mrlm", name), "junction");
  }
  const zod = dirname(fileURLToPath(import.meta.resolve("zod/package.json")));
  symlinkSync(zod, join(project, "node_modules", "zod"), "junction");
});
afterAll(() => rmSync(project, { recursive: true }));

const importing = (entry: string) => {
  const code = `import(${JSON.stringify(entry)}).then(
    (module) => console.log(Object.keys(module).length > 0),
    ({ code, message, hint }) => console.log(JSON.stringify({ code, message, hint })),
  )`;
  const args = ["--conditions=mrlm-source", "--input-type=module", "--eval", code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
  return { stdout: stdout.trim(), stderr };
};

test.each(["@mrlm/kit", "@mrlm/kit/learning"])("%s needs no tokenizer", (entry) => {
  expect(importing(entry)).toEqual({ stdout: "true", stderr: "" });
});

test("@mrlm/kit/renderer names the packages to install", () => {
  const { stdout, stderr } = importing("@mrlm/kit/renderer");
  expect(stderr).toBe("");
  const packages = Object.entries(peers).map(([name, version]) => `${name}@${version}`);
  expect(JSON.parse(stdout)).toEqual({
    code: "DEPENDENCY_MISSING",
    message: "@mrlm/kit/renderer uses the package @huggingface/jinja, which is not installed.",
    hint: `Run \`npm install ${packages.join(" ")}\`.`,
  });
});
