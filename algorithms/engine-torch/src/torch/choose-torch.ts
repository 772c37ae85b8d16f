import { MrlmError } from "@mrlm/spec";
import { pipFailure } from "../pip/pip-failure.ts";
import type { Python } from "../python/probe-python.ts";
import { cpuBuild, indexBuild, LOCKED, type TorchBuild, TORCH_VERSION, type TorchWish } from "./torch-build.ts";
import type { AskTorchVersions } from "./torch-versions.ts";

/** The Python and the build of torch that go together. */
export interface TorchChoice {
  readonly python: Python;
  readonly build: TorchBuild;
}

/** What the choice depends on. */
export interface TorchSituation {
  /** Suitable Pythons, best first, at least one. */
  readonly pythons: readonly Python[];
  readonly wish: TorchWish;
  readonly wantsCpu: boolean;
  readonly ask: AskTorchVersions;
  readonly progress: (line: string) => void;
}

/**
 * Chooses the first Python that can have the CPU build where that is wanted: a difference of several gigabytes. The user's index, or
 * else what pip's configuration names, is asked for each Python in turn.
 *
 * @throws SETUP_FAILED where the CPU build is insisted on and nobody has it, SETUP_DOWNLOAD_FAILED without a network.
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
    `no CPU build of torch is on offer for Python ${pythons.map(({ version }) => version).join(" or ")}; installing the ordinary one, ` +
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
