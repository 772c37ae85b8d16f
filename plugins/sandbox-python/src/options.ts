import { z } from "zod";

/** Options of the plugin. */
export const pythonOptions = z
  .strictObject({
    /** `auto`: `native` where this machine can jail a CPython, otherwise `pyodide`. */
    kind: z.enum(["auto", "pyodide", "native"]).default("auto"),
    /** Path or name of the CPython of the kind `native`; by default the first that serves. */
    python: z.string().min(1).optional(),
    /** Submissions that run at the same time. */
    children: z.int().positive().optional(),
    /** Submissions that may wait. */
    queue: z.int().nonnegative().optional(),
    /** Sessions that may be open at the same time. */
    sessions: z.int().positive().optional(),
    /** Limits of a submission that brings none. */
    limits: z
      .strictObject({
        wallMs: z.int().positive().optional(),
        cpuMs: z.int().positive().optional(),
        memoryBytes: z.int().positive().optional(),
        outputBytes: z.int().nonnegative().optional(),
      })
      .optional(),
  })
  .prefault({});

export type PythonOptions = z.infer<typeof pythonOptions>;
