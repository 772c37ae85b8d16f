/** Math-Verify in a separate virtual environment, kept in the user's cache between runs. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PeerVerdict {
  readonly equivalent: boolean;
  readonly seconds: number;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Judges the pairs of a JSON Lines file, one after the other in one process. */
export function judgeWithMathVerify(file: string): readonly PeerVerdict[] {
  const output = execFileSync(environment(), [here("math_verify_pairs.py"), file], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as PeerVerdict);
}

/** Returns the Python of the environment, made on the first run and whenever the requirements change. */
function environment(): string {
  const requirements = here("requirements.txt");
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const cache = process.env["MRLM_CACHE"] || join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "mrlm");
  const folder = join(cache, "benchmarks", `math-verify-${digest}`);
  const python = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const stamp = join(folder, "complete");
  if (existsSync(stamp)) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const maker = process.env["MRLM_ENGINE_PYTHON"] || process.env["MRLM_PYTHON"] || "python3";
  console.error(`installing Math-Verify into ${folder}`);
  execFileSync(maker, ["-m", "venv", "--without-pip", folder], { stdio: ["ignore", 2, 2] });
  const install = ["install", "--quiet", "--disable-pip-version-check", "-r", requirements];
  execFileSync(python, [join(vendoredPip(), "pip"), ...install], { stdio: ["ignore", 2, 2] });
  writeFileSync(stamp, "");
  return python;
}

/** Returns the pip that the engine package carries: the system's Python may have none. */
function vendoredPip(): string {
  const folder = here("../../core/process/vendor");
  const wheel = readdirSync(folder).find((file) => /^pip-.*\.whl$/.test(file));
  if (wheel === undefined) throw new Error(`no pip in ${folder}`);
  return join(folder, wheel);
}
