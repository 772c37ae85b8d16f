import { sandboxOptions } from "@mrlm/kit/options";
import { z } from "zod";

/** Options of the plugin. */
export const pythonOptions = z
  .strictObject({
    kind: z
      .enum(["auto", "pyodide", "native"])
      .default("auto")
      .describe("auto: native where this machine can jail a CPython, otherwise pyodide"),
    python: z
      .string()
      .min(1)
      .optional()
      .describe("Path or name of the CPython for native; by default the first that serves"),
    ...sandboxOptions,
  })
  .prefault({});

/** Parsed options. */
export type PythonOptions = z.output<typeof pythonOptions>;
