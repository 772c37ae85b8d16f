/**
 * Resolves python/requirements/*.in into the .lock files that `mrlm engine setup` installs.
 *
 * Run `npm run lock:python -w @mrlm/engine-torch` with `uv` on PATH (`pip install uv`). One resolution over all parts and
 * Python 3.10 to 3.13 gives each package one version; it is then split, so that a part can be added to an environment
 * without touching what is there, and so that torch can come from another index than the rest.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const directory = fileURLToPath(new URL("../python/requirements/", import.meta.url));
const input = (part: string): string => join(directory, `${part}.in`);

/** torch and the CUDA libraries that its Linux wheel asks for; a CPU build replaces all of them. */
const BELONGS_TO_TORCH = /^(torch|triton|nvidia-.*|cuda-.*)$/;

function resolve(inputs: readonly string[], constraints: readonly string[] = []): Map<string, string> {
  const text = execFileSync(
    "uv",
    [
      "pip",
      "compile",
      "--quiet",
      "--universal",
      "--python-version",
      "3.10",
      "--fork-strategy",
      "fewest",
      "--generate-hashes",
      "--no-annotate",
      "--no-header",
      ...inputs,
      ...constraints.flatMap((file) => ["-c", file]),
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  const entries = text
    .split(/\n(?=\S)/)
    .map((entry) => entry.trimEnd())
    .filter((entry) => entry !== "");
  return new Map(entries.map((entry) => [/^[^=\s]+/.exec(entry)?.[0] ?? "", entry]));
}

const scratch = mkdtempSync(join(tmpdir(), "mrlm-lock-"));
try {
  const all = resolve(["base", "lora", "dev"].map(input));
  const constraint = join(scratch, "all.txt");
  writeFileSync(constraint, [...all.values()].map((entry) => entry.split(" \\")[0]).join("\n"));
  const placed = new Set<string>();
  const write = (part: string, names: Iterable<string>): void => {
    const mine = [...names].filter((name) => all.has(name) && !placed.has(name)).sort();
    for (const name of mine) placed.add(name);
    const header = "# Made by `npm run lock:python -w @mrlm/engine-torch`; do not edit.\n";
    writeFileSync(join(directory, `${part}.lock`), header + mine.map((name) => `${all.get(name)}\n`).join(""));
    console.log(`${part}.lock: ${mine.length} packages`);
  };
  write(
    "torch",
    [...all.keys()].filter((name) => BELONGS_TO_TORCH.test(name)),
  );
  write("base", resolve([input("base")], [constraint]).keys());
  write("lora", resolve([input("lora")], [constraint]).keys());
  write("dev", resolve([input("dev")], [constraint]).keys());
  const forgotten = [...all.keys()].filter((name) => !placed.has(name));
  if (forgotten.length > 0) throw new Error(`in no part: ${forgotten.join(", ")}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
