import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { Finding } from "@mrlm/testing";
import { checkPackage, findPackage } from "../../src/services/check-package.ts";

const FOLDER = fileURLToPath(new URL("../../../testing/fixtures/broken/", import.meta.url));

/** Names of the plugins with one defect. */
export const BROKEN = readdirSync(FOLDER).sort();

export const SOUND_FOLDER = fileURLToPath(new URL("../../../testing/fixtures/sound/", import.meta.url));

/** Names of the plugins without a defect. */
export const SOUND = readdirSync(SOUND_FOLDER).sort();

/** Defect of a broken plugin, as its package.json states it. */
interface StatedDefect {
  /** Code that `mrlm check` must report, and nothing else. */
  readonly expects: string;
  /** Text of the message, where the code alone could stand for another defect. */
  readonly message?: string;
  /** Whether `mrlm check --quick` does not find it, or takes more than a few seconds. */
  readonly slow?: boolean;
}

export function statedDefect(name: string): StatedDefect {
  return JSON.parse(readFileSync(join(FOLDER, name, "package.json"), "utf8")) as StatedDefect;
}

/** Checks a broken plugin, or one of another folder, and returns the open findings. */
export async function findingsOf(
  name: string,
  options: { readonly quick?: boolean } = {},
  folder = FOLDER,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const message of checkPackage(findPackage(join(folder, name), folder), options))
    if (message.event === "finding" && message.finding.acknowledged === undefined) findings.push(message.finding);
  return findings;
}

/** Ways in which the provider of a requirement cannot be loaded, with what the finding states. */
export const BROKEN_PROVIDERS = {
  'throw new Error("The licence is missing.");': "cannot be loaded",
  "process.exit(5);": "ended with exit code 5 during the import of essay-scorer, which provides scorer:essay@1",
  "await new Promise(() => setInterval(() => undefined, 1_000));": "the import of essay-scorer, which provides",
} as const;

/** Checks the plugin `requirement-missing` beside a provider of its requirement whose import runs this code. */
export async function findingsWithProvider(code: string): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-provider-"));
  try {
    cpSync(join(FOLDER, "requirement-missing"), folder, { recursive: true });
    const dependencies = { "essay-scorer": "1.0.0" };
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object;
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, dependencies }));
    const provider = join(folder, "node_modules/essay-scorer");
    mkdirSync(provider, { recursive: true });
    const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["scorer:essay@1"] };
    writeFileSync(
      join(provider, "package.json"),
      JSON.stringify({ name: "essay-scorer", version: "1.0.0", type: "module", keywords: ["mrlm-plugin"], mrlm }),
    );
    writeFileSync(join(provider, "index.js"), `${code}\nexport default { apiVersion: 1, name: "essay-scorer" };\n`);
    const findings: Finding[] = [];
    for await (const message of checkPackage(findPackage(folder, folder), { quick: true }))
      if (message.event === "finding") findings.push(message.finding);
    return findings;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
