import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "@jest/globals";
import { ROOT } from "../../e2e/support/mrlm.ts";

const run = promisify(execFile);
const INSTALL_MS = 540_000;

/** Program of another framework, with the packages that it needs. */
export interface Peer {
  /** Folder with `requirements.txt`, and `no-deps.txt` for packages without their dependencies. */
  readonly folder: string;
  /** Another folder with these files, whose virtual environment is used. */
  readonly environment?: string;
  /** Name of the program in the folder. */
  readonly program: string;
  /** Version of the Python that makes its virtual environment: `3.13`. Default: that of `python3`. */
  readonly python?: string;
  /** Variables of its process, beside those of this one. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Registers the test of a peer: makes its virtual environment, which is cached, runs its program, and reads the JSON in the last line. The test is skipped,
 * with the reason, where the environment cannot be made: no network, or no such Python.
 */
export async function testPeer(
  name: string,
  peer: Peer,
  body: (play: (...args: readonly string[]) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const found = await interpreterOf(peer);
  if ("reason" in found) return test.skip(`${name} (${found.reason})`, () => undefined);
  const program = join(ROOT, peer.folder, peer.program);
  test(
    name,
    () =>
      body(async (...args) => {
        const env = { ...process.env, HF_HUB_OFFLINE: "1", ...peer.env };
        const { stdout } = await run(found.python, [program, ...args], { env, timeout: 240_000, maxBuffer: 1 << 26 });
        return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      }),
    300_000,
  );
}

async function interpreterOf({
  folder,
  environment = folder,
  python,
}: Peer): Promise<{ python: string } | { reason: string }> {
  const setup = join(ROOT, "benchmarks/train/peers/setup_environment.py");
  try {
    const requirements = join(ROOT, environment, "requirements.txt");
    // The versions of pyenv are found by this variable. Some peers ask for a later patch of Python than they need.
    const versions = python === undefined ? {} : { PYENV_VERSION: python, PIP_IGNORE_REQUIRES_PYTHON: "1" };
    const { stdout } = await run(`python${python ?? "3"}`, [setup, "--requirements", requirements], {
      timeout: INSTALL_MS,
      env: { ...process.env, ...versions },
    });
    return { python: stdout.trim().split("\n").at(-1) ?? "" };
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).trim().split("\n");
    return { reason: (lines.at(-1) ?? "").slice(0, 200) };
  }
}
