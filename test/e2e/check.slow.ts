import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startChatServer } from "@mrlm/testing";
import { ROOT, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();

/** Copies the counting plugin with a change of its source. Returns the folder. */
function countingWith(name: string, text: string, replacement: string): string {
  const plugin = join(folder, name);
  cpSync(new URL("../../core/testing/fixtures/counting", import.meta.url), plugin, { recursive: true });
  change(plugin, text, replacement);
  return plugin;
}

function change(plugin: string, text: string, replacement: string): void {
  const source = join(plugin, "index.js");
  writeFileSync(source, readFileSync(source, "utf8").replace(text, replacement));
}

test("mrlm check --play reports how many groups have two different rewards, and --badge a badge", async () => {
  const server = await startChatServer((_request, index) => String(1 + (index % 3)));
  const args = ["check", "environments/nim", "--quick", "--only", "environment:nim@1", "--badge"];
  const { code, events } = await run([
    ...[...args, "--json", "--play", "openai:tiny", "--base-url", server.baseUrl, "--play-groups", "3"],
  ]).finally(() => void server.close());
  expect(code).toBe(0);
  expect(events.filter(({ event }) => event !== "ended")).toMatchObject([
    { event: "finding", code: "TASKS_OVERLAP", acknowledged: expect.any(String) },
    { event: "play", environment: "nim@1", model: "openai:tiny", groups: 3, failed: 0 },
    {
      event: "check",
      parts: ["environment:nim@1"],
      errors: 0,
      warnings: 0,
      badge: expect.stringMatching(/^!\[mrlm check: \d+ passed\]/),
    },
  ]);
  const [play] = events.filter(({ event }) => event === "play");
  expect(play?.["with_signal"]).toBeGreaterThan(0);
});

test("mrlm check --play survives a plugin that ends its process", async () => {
  const exits = '=== next || (message.parts[0]?.text === "exit" && process.exit(7));';
  const plugin = countingWith("exits", "=== next;", exits);
  const file = join(plugin, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies: { "@mrlm/policy-openai": "*" } }));
  mkdirSync(join(plugin, "node_modules"));
  symlinkSync(join(ROOT, "node_modules/@mrlm"), join(plugin, "node_modules/@mrlm"));
  const server = await startChatServer(() => "exit");
  const { code, events } = await run([
    ...["check", plugin, "--quick", "--only", "counting", "--json", "--play-groups", "1"],
    ...["--play", "openai:tiny", "--base-url", server.baseUrl],
  ]).finally(() => void server.close());
  expect(events.filter(({ event }) => event === "finding")).toMatchObject([
    { code: "PROCESS_ENDED", subject: "environment:counting@1", message: expect.stringContaining("exit code 7") },
  ]);
  expect(code).toBe(4);
});

test("mrlm check names the fixture and the first line of a changed behaviour; --update records it", async () => {
  const plugin = countingWith("counting", "", "");
  const check = (...more: string[]): ReturnType<typeof run> => run(["check", plugin, "--quick", ...more]);
  expect(await check("--update")).toMatchObject({ code: 0 });
  expect(await check()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^counting-environment 1\.0\.0: no findings/),
  });
  change(plugin, '"Correct."', '"Right."');
  const changed = await check();
  expect(changed.code).toBe(4);
  expect(changed.stdout).toContain("error BEHAVIOUR_CHANGED  index.js:");
  expect(changed.stdout).toContain(
    'Fixture "counts" of counting@1 changed in line 3 (the result of turn 1), compared with mrlm.behaviour.json.',
  );
});

test("mrlm check removes the temporary files of a plugin that leaves them", async () => {
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  const check = ["check", "core/testing/fixtures/broken/leaks-file", "--quick"];
  const { code } = await run(check, { TMPDIR: temporary });
  expect(code).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
});

test("mrlm check refuses a misspelt part beside a right one, and states that --update recorded nothing", async () => {
  const [misspelt, nothing] = await Promise.all([
    run(["check", "environments/nim", "--only", "nim", "--only", "environment:nom"]),
    run(["check", "plugins/scorer-math", "--quick", "--update"]),
  ]);
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('has no part "environment:nom".') });
  expect(nothing.stdout).toContain("Nothing was written to mrlm.behaviour.json");
});

test("mrlm check asks npm whether the recorded behaviour is packed", async () => {
  const plugin = countingWith("packed", "", "");
  const file = join(plugin, "package.json");
  const { private: _, ...manifest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  await run(["check", plugin, "--quick", "--update"]);
  const found: unknown[] = [];
  for (const files of [["index.js", "*.json"], ["index.js"]]) {
    writeFileSync(file, JSON.stringify({ ...manifest, files }));
    const { events } = await run(["check", plugin, "--quick", "--json"]);
    found.push(events.filter(({ event }) => event === "finding").map(({ code }) => code));
  }
  expect(found).toEqual([[], ["BEHAVIOUR_OUTDATED"]]);
});
