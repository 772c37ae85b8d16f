/** The version that everything is tested with. */
export const TORCH_VERSION = "2.13.0";

/** Which build of torch to install and from where. */
export interface TorchBuild {
  /**
   * `locked`: the wheel of torch.lock with its hash, and on Linux the CUDA libraries that it needs.
   * `cpu`: the smaller build without CUDA, alone. `index`: what the user's index offers, with what it needs.
   */
  readonly kind: "locked" | "cpu" | "index";
  /** pip's requirement; the lock file says it for `locked`. */
  readonly requirement: string;
  /** An index to ask instead of those of pip's configuration. */
  readonly index?: string;
}

/** What the user wants. */
export interface TorchWish {
  readonly device: "auto" | "cpu" | "cuda";
  readonly index?: string;
}

/** The wheel of the lock file. */
export const LOCKED: TorchBuild = { kind: "locked", requirement: `torch==${TORCH_VERSION}` };

/** The build without CUDA. */
export function cpuBuild(index?: string): TorchBuild {
  return { kind: "cpu", requirement: `torch==${TORCH_VERSION}+cpu`, ...(index !== undefined && { index }) };
}

/** Whatever the user's index has of this version. */
export function indexBuild(index: string): TorchBuild {
  return { kind: "index", requirement: `torch==${TORCH_VERSION}`, index };
}

/**
 * Whether the small CPU build should be looked for. Only Linux has it: elsewhere the ordinary wheel holds no CUDA anyway.
 */
export function wantsCpuBuild(wish: TorchWish, platform: NodeJS.Platform, hasGpu: boolean): boolean {
  return platform === "linux" && (wish.device === "cpu" || (wish.device === "auto" && !hasGpu));
}
