import { PooledSandbox } from "@mrlm/sandbox";
import { pythonBackend } from "../../src/backend.ts";
import { nativeMissing } from "../../src/native-backend.ts";
import { pythonOptions } from "../../src/options.ts";

/** Both kinds, and why one cannot be tested on this machine. */
export const kinds = [
  { kind: "pyodide", missing: undefined },
  { kind: "native", missing: await nativeMissing() },
] as const;

export async function makeSandbox(kind: "pyodide" | "native"): Promise<PooledSandbox> {
  return new PooledSandbox(await pythonBackend(pythonOptions.parse({ kind, sessions: 2 })));
}
