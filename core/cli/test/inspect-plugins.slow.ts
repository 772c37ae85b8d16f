import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { info } from "../src/commands/info.ts";
import { inspectPlugins } from "../src/services/inspect-plugins.ts";
import { recordedConsole } from "./support/console.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const broken = (name: string): string =>
  fileURLToPath(new URL(`../../testing/fixtures/broken/${name}`, import.meta.url));

/** Makes a project that depends on these broken plugins. */
function projectWith(names: readonly string[]): string {
  const project = mkdtempSync(join(tmpdir(), "mrlm-inspect-"));
  mkdirSync(join(project, "node_modules"));
  for (const name of names) symlinkSync(broken(name), join(project, "node_modules", name));
  const dependencies = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", dependencies }));
  return project;
}

test("plugins that end, change or flood the process are named, and the others are inspected", async () => {
  const names = ["changes-prototype", "import-exits", "import-prints", "import-throws", "requirement-missing"];
  const project = projectWith(names);
  try {
    const { faults } = await inspectPlugins({ directory: project });
    expect([...faults].map(([name, [fault]]) => [name, fault?.code])).toEqual([
      ["changes-prototype", "GLOBAL_CHANGED"],
      ["import-exits", "PROCESS_ENDED"],
      ["import-prints", "OUTPUT_EXCESSIVE"],
      ["import-throws", "PLUGIN_LOAD_FAILED"],
    ]);
  } finally {
    rmSync(project, { recursive: true });
  }
});

test("D7: info with a configuration counts the tasks of its environments, and the different prompts of eval", async () => {
  const project = mkdtempSync(join(tmpdir(), "mrlm-info-"));
  const config = join(project, "c.yaml");
  const options = "{ families: [arithmetic], difficulty_range: 1, style: terse, eval_size: 40 }";
  const environments = `[{ id: math@2, options: ${options} }, { id: unknown }]`;
  writeFileSync(
    config,
    `{ model: { path: . }, environments: ${environments}, stages: [{ algorithm: grpo@1, steps: 1 }] }`,
  );
  try {
    const { console, out } = recordedConsole();
    await info({ console, directory: ROOT }, { config });
    expect(out()).toMatch(/^math@2 +eval +40 +(?!40)[123]\d$/m);
    expect(out()).toMatch(/^math@2 +train +100000 *$/m);
    expect(out()).toMatch(/^environment unknown: ENVIRONMENT_NOT_FOUND: /m);
  } finally {
    rmSync(project, { recursive: true });
  }
});

test("info lists the plugins of a project, and names those that cannot be used", async () => {
  const project = projectWith(["import-exits", "unknown-kind", "requirement-missing"]);
  try {
    const { console, out } = recordedConsole();
    await info({ console, directory: project }, {});
    expect(out()).toMatch(/^requirement-missing +1\.0\.0 +environment:essay@1$/m);
    expect(out()).toMatch(
      /^plugin import-exits: PROCESS_ENDED: The process ended with exit code 0 during its import\./m,
    );
    expect(out()).toMatch(/^plugin unknown-kind: PLUGIN_INVALID: The manifest of plugin unknown-kind is malformed/m);
  } finally {
    rmSync(project, { recursive: true });
  }
});
