import type { RunProcess } from "@mrlm/process/python";
import { MrlmError } from "@mrlm/spec";

/** Report of an environment about itself. */
export interface EnvironmentReport {
  /** Versions of Python and of the main packages. */
  readonly versions: Readonly<Record<string, string>>;
  /** Whether torch can use a GPU. */
  readonly cuda: boolean;
}

/** Packages that the engine requires. */
const PACKAGES = ["torch", "transformers", "grpcio", "protobuf", "safetensors", "numpy"];

const REPORT = `
import json, platform, sys
from importlib.metadata import PackageNotFoundError, version
versions, missing = {"python": platform.python_version()}, []
for name in ${JSON.stringify(PACKAGES)}:
    try:
        versions[name] = version(name)
    except PackageNotFoundError:
        missing.append(name)
cuda = False
if not missing and sys.argv[1:] == ["--import"]:
    import google.protobuf, grpc, numpy, safetensors.torch, torch, transformers.modeling_utils
    versions["torch"] = torch.__version__
    cuda = torch.cuda.is_available()
print(json.dumps({"versions": versions, "missing": missing, "cuda": cuda}))
`;

/** Imports every main package, which takes seconds and compiles them. @throws SETUP_FAILED if one is missing or cannot be loaded. */
export function verifyEnvironment(executable: string, run: RunProcess): Promise<EnvironmentReport> {
  return report(executable, ["--import"], run);
}

/** Lists the installed packages, which takes a tenth of a second. @throws SETUP_FAILED if one is missing. */
export async function installedVersions(executable: string, run: RunProcess): Promise<EnvironmentReport["versions"]> {
  return (await report(executable, [], run)).versions;
}

async function report(executable: string, args: readonly string[], run: RunProcess): Promise<EnvironmentReport> {
  const result = await run(executable, ["-I", "-c", REPORT, ...args]);
  const line = result.stdout.trim().split("\n").at(-1) ?? "";
  if (result.code !== 0 || !line.startsWith("{")) {
    const cause = result.error?.message ?? result.stderr.trim().split("\n").slice(-3).join("\n  ");
    throw new MrlmError("SETUP_FAILED", `The engine's packages cannot be loaded by ${executable}:\n  ${cause}`, {
      hint: "Remove the environment's directory and run `mrlm engine setup` again; where MRLM_ENGINE_PYTHON is set, check it.",
    });
  }
  const { versions, cuda, missing } = JSON.parse(line) as EnvironmentReport & { missing: readonly string[] };
  if (missing.length === 0) return { versions, cuda };
  throw new MrlmError("SETUP_FAILED", `${executable} lacks ${missing.join(", ")}.`, {
    hint: "Install them there, or unset MRLM_ENGINE_PYTHON so that `mrlm engine setup` makes an environment.",
  });
}
