import { defined } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";
import { z } from "zod";
import type { TorchWish } from "../torch/torch-build.ts";

/** Options of the setup. Each has an environment variable, which is its default. */
export const setupOptionsSchema = z.strictObject({
  /** `MRLM_PYTHON`: path or name of the Python to build on. Default: the best one found. */
  python: z.string().min(1).optional(),
  /** `MRLM_TORCH`: `cpu` requires the build without CUDA, `cuda` the one with CUDA. Default `auto`: by the machine's GPU. */
  torch: z.enum(["auto", "cpu", "cuda"]).optional(),
  /** `MRLM_TORCH_INDEX`: package index of torch, instead of pip's configuration. */
  torch_index: z.string().min(1).optional(),
  /** `MRLM_ENGINE_PYTHON`: an interpreter that has all packages. Then nothing is installed. */
  engine_python: z.string().min(1).optional(),
});

/** Checked options. */
export type SetupOptions = z.infer<typeof setupOptionsSchema>;

const VARIABLES = {
  python: "MRLM_PYTHON",
  torch: "MRLM_TORCH",
  torch_index: "MRLM_TORCH_INDEX",
  engine_python: "MRLM_ENGINE_PYTHON",
} as const satisfies Record<keyof SetupOptions, string>;

/** Merges options with environment variables. An empty variable counts as unset. @throws OPTIONS_INVALID. */
export function resolveSetupOptions(
  options: Readonly<Record<string, unknown>> = {},
  env: NodeJS.ProcessEnv = process.env,
): SetupOptions {
  const set = Object.entries(VARIABLES).flatMap(([name, variable]) => (env[variable] ? [[name, env[variable]]] : []));
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const parsed = setupOptionsSchema.safeParse(Object.fromEntries([...set, ...given]));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const variable = VARIABLES[path[0] as keyof SetupOptions];
    return variable === undefined ? message : `${String(path[0])} (${variable}): ${message}`;
  });
  throw new MrlmError("OPTIONS_INVALID", `Options of the engine's setup: ${problems.join("; ")}.`, {
    hint: `There are: ${Object.entries(VARIABLES)
      .map(([name, variable]) => `${name} (${variable})`)
      .join(", ")}.`,
  });
}

/** Returns the requested build of torch in these options. */
export function torchWish(options: SetupOptions): TorchWish {
  return { device: options.torch ?? "auto", ...defined({ index: options.torch_index }) };
}
