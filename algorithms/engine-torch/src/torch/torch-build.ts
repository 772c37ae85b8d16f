import { defined } from "@mrlm/kit";
/** Version of torch that all tests use. */
export const TORCH_VERSION = "2.13.0";

/** Build of torch to install, and its source. */
export interface TorchBuild {
  /**
   * `locked`: the wheel of torch.lock with its hash, and on Linux the CUDA libraries that it needs.
   * `cpu`: the smaller build without CUDA. `index`: the build of the user's index, with its dependencies.
   */
  readonly kind: "locked" | "cpu" | "index";
  /** Requirement for pip. Absent for `locked`, where the lock file has it. */
  readonly requirement: string;
  /** Index to use instead of those of pip's configuration. */
  readonly index?: string;
}

/** Build that the user requested. */
export interface TorchWish {
  readonly device: "auto" | "cpu" | "cuda";
  readonly index?: string;
}

/** Build of the lock file. */
export const LOCKED: TorchBuild = { kind: "locked", requirement: `torch==${TORCH_VERSION}` };

/** Returns the build without CUDA. */
export function cpuBuild(index?: string): TorchBuild {
  return { kind: "cpu", requirement: `torch==${TORCH_VERSION}+cpu`, ...defined({ index }) };
}

/** Returns the build of this version on the user's index. */
export function indexBuild(index: string): TorchBuild {
  return { kind: "index", requirement: `torch==${TORCH_VERSION}`, index };
}

/**
 * Whether to search for the small CPU build. Only Linux has it, because the ordinary wheels of other systems contain no CUDA.
 */
export function wantsCpuBuild(wish: TorchWish, platform: NodeJS.Platform, hasGpu: boolean): boolean {
  return platform === "linux" && (wish.device === "cpu" || (wish.device === "auto" && !hasGpu));
}
