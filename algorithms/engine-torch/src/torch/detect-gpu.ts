import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What the detection reads of a machine. */
export interface GpuEvidence {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly exists: (path: string) => boolean;
  /** Names in a directory; none where it does not exist. */
  readonly list: (directory: string) => readonly string[];
}

/** The evidence on this machine. */
export function gpuEvidence(env: NodeJS.ProcessEnv = process.env): GpuEvidence {
  const list = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory) : []);
  return { platform: process.platform, env, exists: existsSync, list };
}

/**
 * Whether an NVIDIA GPU with a driver is present, told from files alone: before torch is installed nothing else can be
 * asked, and starting `nvidia-smi` would cost each start of the engine a second.
 */
export function hasNvidiaGpu({ platform, env, exists, list }: GpuEvidence = gpuEvidence()): boolean {
  if (platform === "win32") return exists(join(env["SystemRoot"] ?? "C:\\Windows", "System32", "nvcuda.dll"));
  if (platform !== "linux") return false;
  const isDevice = (name: string): boolean => /^nvidia\d+$/.test(name);
  const underWindows = exists("/dev/dxg") && exists("/usr/lib/wsl/lib/libcuda.so.1");
  return list("/dev").some(isDevice) || list("/proc/driver/nvidia/gpus").length > 0 || underWindows;
}
