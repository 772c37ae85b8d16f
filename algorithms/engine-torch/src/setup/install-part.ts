import { appendFileSync } from "node:fs";
import { LOCKED, type TorchBuild } from "../torch/torch-build.ts";
import { pipFailure } from "../pip/pip-failure.ts";
import { pipProgress } from "../pip/pip-progress.ts";
import type { RunPip } from "../pip/pip.ts";
import type { LockFiles, Part } from "./lock-files.ts";

/** Where and with what parts are installed. */
export interface Installation {
  /** The environment's interpreter. */
  readonly executable: string;
  readonly lock: LockFiles;
  readonly build: TorchBuild;
  readonly pip: RunPip;
  readonly logFile: string;
  readonly progress: (line: string) => void;
}

/**
 * Installs one part. Nothing is compiled: wheels only. What comes from a lock file is held to its hashes.
 *
 * @throws SETUP_DOWNLOAD_FAILED or SETUP_FAILED with pip's decisive lines.
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
  // A part whose installation was stopped may have left half a package: what is there is not trusted, but written again.
  // Modules are compiled when they are first imported: most of transformers never is, and it takes longer than unpacking.
  const options = ["--only-binary", ":all:", "--no-compile", "--ignore-installed", "--progress-bar", "raw"];
  const result = await pip(executable, ["install", ...options, ...requirements(part, lock, build)], log);
  if (result.code !== 0) throw pipFailure(step, result.error?.message ?? `${result.stderr}\n${result.stdout}`, logFile);
}

/** What the parts are called in messages. */
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
