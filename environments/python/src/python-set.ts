import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/kit";
import { cacheDirectory } from "@mrlm/kit/service";
import {
  executableOf,
  findPythons,
  makeVirtualEnvironment,
  pipFailure,
  pipProgress,
  pipRunner,
  type Python,
  readStamp,
  runProcess,
  searchOfMachine,
  withHeartbeat,
  withSetupLock,
  writeStamp,
} from "@mrlm/process/python";

type Progress = (line: string) => void;

const VERSIONS = `
import json
from importlib.metadata import distributions
print(json.dumps({each.metadata["Name"]: each.version for each in distributions()}))
`;

/** The best Python of this machine, which is searched once. */
let found: Promise<Python> | undefined;

/**
 * Returns the interpreter of a set of pinned packages. Installs them on the first use, into an environment of their own in the cache of the user, which all
 * processes share. Without packages it is the Python of the machine (`MRLM_PYTHON`).
 *
 * @throws PYTHON_NOT_FOUND, PYTHON_VERSION, SETUP_DOWNLOAD_FAILED, SETUP_FAILED
 */
export async function interpreterOf(requirements: readonly string[], progress: Progress): Promise<string> {
  found ??= findPythons(searchOfMachine(), runProcess, process.env["MRLM_PYTHON"] || undefined).then(
    ([first]) => first as Python,
  );
  const python = await found.catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  if (requirements.length === 0) return python.executable;
  const pins = requirements.toSorted();
  const identity = JSON.stringify([process.platform, process.arch, python, pins]);
  const minor = python.version.split(".").slice(0, 2).join(".");
  const name = `python${minor}-${createHash("sha256").update(identity).digest("hex").slice(0, 16)}`;
  const directory = join(cacheDirectory(), "python", name);
  if (readStamp(directory) === undefined)
    await withHeartbeat(progress, (line) => install({ directory, python, pins, progress: line }));
  return executableOf(directory);
}

async function install(plan: {
  readonly directory: string;
  readonly python: Python;
  readonly pins: readonly string[];
  readonly progress: Progress;
}): Promise<void> {
  const { directory, pins, progress } = plan;
  const logFile = `${directory}.log`;
  try {
    mkdirSync(join(directory, ".."), { recursive: true });
  } catch (cause) {
    throw new MrlmError(
      "SETUP_FAILED",
      `The cache directory ${directory} cannot be made: ${(cause as Error).message}`,
      {
        hint: "Set MRLM_CACHE to a directory that you can write to.",
        cause,
      },
    );
  }
  const waiting = (): void => progress("another process installs the same packages; waiting for it");
  await withSetupLock(`${directory}.lock`, waiting, async () => {
    if (readStamp(directory) !== undefined) return;
    await makeVirtualEnvironment(plan, { run: runProcess, progress });
    const step = pins.join(", ");
    progress(`installing ${step}`);
    const condensed = pipProgress(step, progress);
    const log = (line: string): void => {
      if (!line.startsWith("Progress ")) appendFileSync(logFile, `${line}\n`);
      condensed.line(line);
    };
    const executable = executableOf(directory);
    const { code, error, stdout, stderr } = await pipRunner(runProcess)(
      executable,
      ["install", "--no-compile", "--progress-bar", "raw", ...pins],
      log,
    );
    if (code !== 0) throw pipFailure(step, error?.message ?? `${stderr}\n${stdout}`, logFile);
    const listed = await runProcess(executable, ["-I", "-c", VERSIONS]);
    if (listed.code !== 0)
      throw new MrlmError(
        "SETUP_FAILED",
        `${step} are installed, but ${executable} ended with code ${listed.code} when it listed its packages:\n${listed.error?.message ?? listed.stderr.trim().slice(-2_000)}`,
        { hint: `One of the packages may run code when Python starts. Read the quoted lines and ${logFile}.` },
      );
    writeStamp(directory, { extras: [], versions: JSON.parse(listed.stdout) as Record<string, string> });
  });
}
