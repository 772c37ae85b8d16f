import { appendFileSync } from "node:fs";
import { dirname } from "node:path";
import { MrlmError } from "@mrlm/spec";
import {
  executableOf,
  makeVirtualEnvironment,
  type Python,
  readStamp,
  type RunPip,
  type RunProcess,
  type Stamp,
  withSetupLock,
  writeStamp,
} from "@mrlm/process/python";
import type { TorchBuild } from "../torch/torch-build.ts";
import { checkDiskSpace } from "./disk-space.ts";
import { installPart } from "./install-part.ts";
import { EXTRAS, type Extra, type LockFiles } from "./lock-files.ts";
import { verifyEnvironment } from "./verify-environment.ts";

export interface EnvironmentPlan {
  readonly directory: string;
  readonly python: Python;
  readonly build: TorchBuild;
  readonly extras: readonly Extra[];
  readonly lock: LockFiles;
  /** Whether the machine has a GPU that this build of torch must be able to use. */
  readonly expectsGpu: boolean;
}

/** Functions that build the environment. */
export interface BuildTools {
  readonly run: RunProcess;
  readonly pip: RunPip;
  readonly progress: (line: string) => void;
  /** Checks a finished environment and returns its versions. */
  readonly verify?: typeof verifyEnvironment;
}

/**
 * Builds the planned environment: creates it if it is missing, removes the remains of an interrupted setup, and adds missing
 * extras. Only one process builds at a time. A second one waits and then finds the complete environment.
 */
export async function buildEnvironment(
  plan: EnvironmentPlan,
  tools: BuildTools,
): Promise<{ stamp: Stamp; changed: boolean }> {
  const waiting = (): void => tools.progress("another setup is at work on the same environment; waiting for it");
  return withSetupLock(`${plan.directory}.lock`, waiting, async () => {
    const present = readStamp(plan.directory);
    const missing = plan.extras.filter((extra) => present?.extras.includes(extra) !== true);
    if (present !== undefined && missing.length === 0) return { stamp: present, changed: false };
    checkDiskSpace(dirname(plan.directory), present === undefined ? plan.build.kind : "extra");
    if (present === undefined) await makeVirtualEnvironment(plan, tools);
    const installation = {
      ...plan,
      ...tools,
      executable: executableOf(plan.directory),
      logFile: `${plan.directory}.log`,
    };
    appendFileSync(installation.logFile, `--- ${new Date().toISOString()}\n`);
    if (present === undefined) {
      await installPart("torch", installation);
      await installPart("base", installation);
    }
    for (const extra of missing) await installPart(extra, installation);
    tools.progress("checking the environment (the first import of torch takes some seconds)");
    const { versions, cuda } = await (tools.verify ?? verifyEnvironment)(installation.executable, tools.run);
    if (plan.expectsGpu && !cuda)
      tools.progress(
        `torch ${versions["torch"] ?? ""} cannot use this machine's GPU (is the driver too old?); it will compute on the CPU`,
      );
    const extras = EXTRAS.filter((extra) => plan.extras.includes(extra) || present?.extras.includes(extra) === true);
    writeStamp(plan.directory, { extras, versions });
    const stamp = readStamp(plan.directory);
    if (stamp === undefined) throw new MrlmError("SETUP_FAILED", `${plan.directory} was made and cannot be read.`);
    return { stamp, changed: true };
  });
}
