import { MrlmError } from "@mrlm/spec";
import { pipFailure, type Python } from "@mrlm/process/python";
import { cpuBuild, indexBuild, LOCKED, type TorchBuild, TORCH_VERSION, type TorchWish } from "./torch-build.ts";
import type { AskTorchVersions } from "./torch-versions.ts";

/** A Python with a build of torch for it. */
export interface TorchChoice {
  readonly python: Python;
  readonly build: TorchBuild;
}

/** Inputs of the choice. */
export interface TorchSituation {
  /** Suitable Pythons, best first. At least one. */
  readonly pythons: readonly Python[];
  readonly wish: TorchWish;
  readonly wantsCpu: boolean;
  readonly ask: AskTorchVersions;
  readonly progress: (line: string) => void;
}

/**
 * Chooses a Python and a build of torch. Where the CPU build is preferred, which is several gigabytes smaller, it queries the user's index, or
 * the indices of pip's configuration, for each Python and takes the first Python that has this build.
 *
 * @throws SETUP_FAILED if the CPU build is required and no index has it; SETUP_DOWNLOAD_FAILED without a network.
 */
export async function chooseTorch({ pythons, wish, wantsCpu, ask, progress }: TorchSituation): Promise<TorchChoice> {
  const first = pythons[0];
  if (first === undefined) throw new Error("no Python to choose from");
  if (!wantsCpu) return { python: first, build: wish.index === undefined ? LOCKED : indexBuild(wish.index) };
  const wanted = `${TORCH_VERSION}+cpu`;
  progress(`looking for torch ${wanted}`);
  for (const python of pythons) {
    const { versions, unreachable } = await ask(python.executable, wish.index);
    if (versions.includes(wanted)) return { python, build: cpuBuild(wish.index) };
    if (unreachable !== undefined) throw pipFailure(`torch ${wanted}`, unreachable);
  }
  if (wish.device === "cpu") throw noCpuBuild(pythons, wish.index ?? "pip's configured indices");
  progress(
    `no CPU build of torch exists for Python ${pythons.map(({ version }) => version).join(" or ")}; installing the ordinary one, ` +
      "which downloads gigabytes of CUDA libraries that this machine cannot use. To avoid that, interrupt and set " +
      `MRLM_TORCH_INDEX to an index with torch ${wanted} (PyTorch's installation page names its own), or MRLM_PYTHON to a Python for which there is one.`,
  );
  return { python: first, build: wish.index === undefined ? LOCKED : indexBuild(wish.index) };
}

function noCpuBuild(pythons: readonly Python[], where: string): MrlmError {
  const versions = pythons.map(({ version }) => version).join(", ");
  return new MrlmError(
    "SETUP_FAILED",
    `torch ${TORCH_VERSION}+cpu was asked for, and there is none for Python ${versions}; asked were ${where}.`,
    {
      hint: "Set MRLM_TORCH_INDEX to an index that has it, MRLM_PYTHON to another Python, or leave MRLM_TORCH out.",
    },
  );
}
