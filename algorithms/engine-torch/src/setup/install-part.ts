import { appendFileSync } from "node:fs";
import { pipFailure, pipProgress, type RunPip } from "@mrlm/process/python";
import { LOCKED, type TorchBuild } from "../torch/torch-build.ts";
import type { LockFiles, Part } from "./lock-files.ts";

/** Target and tools of an installation. */
export interface Installation {
  /** Path of the environment's interpreter. */
  readonly executable: string;
  readonly lock: LockFiles;
  readonly build: TorchBuild;
  readonly pip: RunPip;
  readonly logFile: string;
  readonly progress: (line: string) => void;
}

/**
 * Installs one part from wheels only, so that nothing is compiled. pip checks packages of a lock file against their hashes.
 *
 * @throws SETUP_DOWNLOAD_FAILED or SETUP_FAILED with the relevant lines of pip.
 */
export async function installPart(part: Part, installation: Installation): Promise<void> {
  const { executable, lock, build, pip, logFile, progress } = installation;
  const step = part === "torch" ? build.requirement.replace("==", " ") : PACKAGES[part];
  progress(`installing ${step}`);
  const condensed = pipProgress(step, progress);
  const log = (line: string): void => {
    if (!line.startsWith("Progress ")) appendFileSync(logFile, `${line}\n`);
    condensed.line(line);
  };
  // An interrupted installation may have left incomplete packages, so all packages of the part are written again.
  // Modules are compiled when they are first imported: most of transformers never is, and it takes longer than unpacking.
  const options = ["--only-binary", ":all:", "--no-compile", "--ignore-installed", "--progress-bar", "raw"];
  const result = await pip(executable, ["install", ...options, ...requirements(part, lock, build)], log);
  if (result.code !== 0) throw pipFailure(step, result.error?.message ?? `${result.stderr}\n${result.stdout}`, logFile);
}

/** Names of the parts in messages. */
const PACKAGES: Readonly<Record<Exclude<Part, "torch">, string>> = {
  base: "transformers, grpcio and what they need",
  lora: "the packages for LoRA",
  dev: "the tools for development",
};

function requirements(part: Part, lock: LockFiles, build: TorchBuild): string[] {
  const locked = ["--no-deps", "--require-hashes", "-r", lock.path(part)];
  if (part !== "torch" || build.kind === LOCKED.kind) return locked;
  const index = build.index === undefined ? [] : ["--index-url", build.index];
  return build.kind === "cpu" ? ["--no-deps", ...index, build.requirement] : [...index, build.requirement];
}
