import { describe, expect, test } from "@jest/globals";
import { chooseTorch, type TorchSituation } from "../src/torch/choose-torch.ts";
import { hasNvidiaGpu } from "../src/torch/detect-gpu.ts";
import { LOCKED, TORCH_VERSION, wantsCpuBuild } from "../src/torch/torch-build.ts";
import { askTorchVersions, type TorchOffer } from "../src/torch/torch-versions.ts";

const python312 = { executable: "/usr/bin/python3.12", version: "3.12.1" };
const python311 = { executable: "/usr/bin/python3.11", version: "3.11.7" };
const CPU = `${TORCH_VERSION}+cpu`;

/** Offers by interpreter and index. */
const asking = (offers: Record<string, TorchOffer>) => async (python: string, index?: string) =>
  offers[`${python} ${index ?? ""}`.trim()] ?? { versions: [TORCH_VERSION] };
const situation = (changes: Partial<TorchSituation>): TorchSituation => ({
  pythons: [python312, python311],
  wish: { device: "auto" },
  wantsCpu: true,
  ask: asking({}),
  progress: () => {},
  ...changes,
});

describe("chooseTorch", () => {
  test("prefers the Python for which there is a CPU build to the first", async () => {
    const ask = asking({ [python311.executable]: { versions: ["2.14.0", CPU] } });
    await expect(chooseTorch(situation({ ask }))).resolves.toEqual({
      python: python311,
      build: { kind: "cpu", requirement: `torch==${CPU}` },
    });
  });

  test("falls back to the locked wheel and prints its cost and how to avoid it", async () => {
    const lines: string[] = [];
    const choice = await chooseTorch(situation({ progress: (line) => lines.push(line) }));
    expect(choice).toEqual({ python: python312, build: LOCKED });
    expect(lines.at(-1)).toMatch(/CUDA libraries.*MRLM_TORCH_INDEX.*MRLM_PYTHON/s);
  });

  test("refuses to fall back where the CPU build was insisted on", async () => {
    await expect(chooseTorch(situation({ wish: { device: "cpu" } }))).rejects.toMatchObject({
      code: "SETUP_FAILED",
      message: expect.stringContaining("3.12.1, 3.11.7"),
    });
  });

  test("a user's index is the only one asked", async () => {
    const asked: (string | undefined)[] = [];
    const ask = async (_: string, index?: string) => ({ versions: (asked.push(index), [CPU]) });
    const choice = await chooseTorch(situation({ ask, wish: { device: "auto", index: "https://mirror/simple" } }));
    expect(choice.build).toEqual({ kind: "cpu", requirement: `torch==${CPU}`, index: "https://mirror/simple" });
    expect(asked).toEqual(["https://mirror/simple"]);
  });

  test("with a GPU nothing is asked", async () => {
    const ask = () => Promise.reject(new Error("asked"));
    await expect(chooseTorch(situation({ ask, wantsCpu: false }))).resolves.toEqual({
      python: python312,
      build: LOCKED,
    });
    const build = (
      await chooseTorch(situation({ ask, wantsCpu: false, wish: { device: "cuda", index: "https://mirror/cu128" } }))
    ).build;
    expect(build).toEqual({ kind: "index", requirement: `torch==${TORCH_VERSION}`, index: "https://mirror/cu128" });
  });

  test("without a network it fails at once instead of falling back", async () => {
    const ask = asking({
      [python312.executable]: { versions: [], unreachable: "WARNING: connection broken by 'NameResolutionError(...)'" },
    });
    await expect(chooseTorch(situation({ ask }))).rejects.toMatchObject({
      code: "SETUP_DOWNLOAD_FAILED",
      isRetryable: true,
    });
  });
});

describe("askTorchVersions", () => {
  const answer = (stdout: string, stderr = "") =>
    askTorchVersions(async () => ({ code: 0, signal: null, stdout, stderr }))("python");

  test("reads pip's JSON past its warnings", async () => {
    await expect(answer(`\n{"name": "torch", "versions": ["${CPU}", "2.12.0"]}\n`)).resolves.toEqual({
      versions: [CPU, "2.12.0"],
    });
  });

  test("distinguishes an index that cannot be reached from one without the package", async () => {
    await expect(answer("", "ERROR: No matching distribution found for torch")).resolves.toEqual({ versions: [] });
    const offer = await answer(
      "",
      "WARNING: Retrying after connection broken by 'NewConnectionError'\nERROR: No matching distribution found for torch",
    );
    expect(offer.unreachable).toContain("NewConnectionError");
  });
});

describe("GPU detection", () => {
  const evidence = (platform: NodeJS.Platform, files: readonly string[], lists: Record<string, string[]> = {}) =>
    hasNvidiaGpu({
      platform,
      env: {},
      exists: (path) => files.includes(path),
      list: (directory) => lists[directory] ?? [],
    });

  test("by device node, driver entry, WSL library, or Windows driver", () => {
    expect(evidence("linux", [], { "/dev": ["null", "nvidia3"] })).toBe(true);
    expect(evidence("linux", [], { "/proc/driver/nvidia/gpus": ["0000:01:00.0"] })).toBe(true);
    expect(evidence("linux", ["/dev/dxg", "/usr/lib/wsl/lib/libcuda.so.1"])).toBe(true);
    expect(evidence("linux", [], { "/dev": ["nvidiactl", "nvidia-uvm"] })).toBe(false);
    expect(evidence("darwin", [], { "/dev": ["nvidia0"] })).toBe(false);
  });

  test("the CPU build is looked for on Linux without a GPU, or where asked for", () => {
    expect(wantsCpuBuild({ device: "auto" }, "linux", false)).toBe(true);
    expect(wantsCpuBuild({ device: "auto" }, "linux", true)).toBe(false);
    expect(wantsCpuBuild({ device: "cpu" }, "linux", true)).toBe(true);
    expect(wantsCpuBuild({ device: "cuda" }, "linux", false)).toBe(false);
    expect(wantsCpuBuild({ device: "auto" }, "darwin", false)).toBe(false);
  });
});
