import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Properties of a machine that the detection reads. */
export interface GpuEvidence {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly exists: (path: string) => boolean;
  /** Names in a directory. Empty if it does not exist. */
  readonly list: (directory: string) => readonly string[];
}

/** Properties of this machine. */
export function gpuEvidence(env: NodeJS.ProcessEnv = process.env): GpuEvidence {
  const list = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);
  return { platform: process.platform, env, exists: existsSync, list };
}

/**
 * Whether an NVIDIA GPU with a driver is present. Reads files only: torch may not be installed yet, and `nvidia-smi` would
 * add a second to each start of the engine.
 */
export function hasNvidiaGpu({ platform, env, exists, list }: GpuEvidence = gpuEvidence()): boolean {
  if (platform === "win32") return exists(join(env["SystemRoot"] ?? "C:\\Windows", "System32", "nvcuda.dll"));
  if (platform !== "linux") return false;
  const isDevice = (name: string): boolean => /^nvidia\d+$/.test(name);
  const underWindows = exists("/dev/dxg") && exists("/usr/lib/wsl/lib/libcuda.so.1");
  return list("/dev").some(isDevice) || list("/proc/driver/nvidia/gpus").length > 0 || underWindows;
}
