import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { discoverPlugins, requiredSandboxes } from "@mrlm/runtime";
import type { Plugin } from "@mrlm/spec";
import { attackEnvironment } from "../../src/attack/attack.ts";
import type { AttackLimits } from "../../src/attack/search.ts";
import { makeSubject } from "../../src/contract/subject.ts";
import { inProcess } from "../../src/index.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const PLANTED = fileURLToPath(new URL("../../fixtures/planted", import.meta.url));

/** Searches a program that earns in an environment of the corpus, as `mrlm check` does: with the plugins that it requires, and its own source. */
export async function attackPlanted(part: "holes" | "sound", name: string, limits: AttackLimits) {
  const directory = join(PLANTED, part, name);
  const { mrlm } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as {
    readonly mrlm: { readonly entry: string; readonly requires?: readonly string[] };
  };
  const { default: plugin } = (await import(pathToFileURL(join(directory, mrlm.entry)).href)) as {
    readonly default: Plugin;
  };
  const entries = discoverPlugins(ROOT, {}, ROOT, undefined, () => undefined);
  const plugins = [plugin];
  const wanted = [...(mrlm.requires ?? [])];
  for (const id of wanted) {
    const entry = entries.find(({ provides }) => provides.some((each) => each === id || each.startsWith(`${id}@`)));
    if (entry === undefined) continue;
    wanted.push(...entry.requires.filter((each) => !wanted.includes(each)));
    const provider = await entry.load((provision) => requiredSandboxes(entries, provision));
    if (!plugins.includes(provider)) plugins.push(provider);
  }
  const [definition] = plugin.environments ?? [];
  if (definition === undefined) throw new Error(`${directory} has no environment`);
  const made = await makeSubject(plugins, definition.id, inProcess, undefined);
  try {
    const result = await attackEnvironment({ ...made, directory }, limits);
    if ("skipped" in result) throw new Error(result.skipped);
    return result;
  } finally {
    await made.close();
  }
}
