import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { PluginHost } from "@mrlm/runtime";

const project = mkdtempSync(join(tmpdir(), "mrlm-superseded-"));
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Discovers a project with one plugin, whose code throws. */
function discover(supersedes: Readonly<Record<string, string>>): Promise<PluginHost> {
  const directory = join(project, "node_modules", "exact");
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["scorer:exact@2", "scorer:exact@3"], supersedes };
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ dependencies: { exact: "*" } }));
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "exact", version: "1.2.3", mrlm }));
  writeFileSync(join(directory, "index.js"), "throw new Error('ran')");
  return PluginHost.discover({ directory: project });
}

test("a former version is refused with the newest one and the note of its plugin, before any code of it runs", async () => {
  const host = await discover({ "scorer:exact@1": "Spaces count now; `trim: true` keeps the former rule." });
  await expect(host.service("scorer", "exact@1", "environment x@1")).rejects.toMatchObject({
    code: "REQUIREMENT_MISSING",
    message: 'Environment x@1 requires scorer "exact@1", which no plugin provides. Did you mean "exact@2"?',
    hint: "exact@3 replaces exact@1. Spaces count now; `trim: true` keeps the former rule.",
  });
  expect(host.registry.replacement("scorer", "exact@4")).toBeUndefined();
  expect(host.registry.replacement("scorer", "exact")).toBeUndefined();
});

test.each(["scorer:exact@4", "scorer:other@1", "judge:exact@1", "exact@1"])(
  "a note about %s, of which the plugin provides no higher version, is refused",
  async (id) => {
    await expect(discover({ [id]: "Changed." })).rejects.toMatchObject({
      code: "PLUGIN_INVALID",
      message: expect.stringContaining(`mrlm.supersedes.${id}: must be a lower version`),
    });
  },
);
