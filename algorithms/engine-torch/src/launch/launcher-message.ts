import type { ErrorCode } from "@mrlm/spec";
import { ERROR_CODES } from "@mrlm/spec/host";
import type { ReadyLine } from "./ready-line.ts";

/** Unexpected exit of a launcher of ranks: the failure of a rank or machine, or the reason why the ranks could not start. */
export type LauncherFailure = { readonly because: string } | { readonly code: ErrorCode; readonly message: string };

/** Message that the engine, or the launcher of its ranks, writes to its standard output. */
export type EngineMessage =
  | { readonly ready: ReadyLine }
  | { readonly notice: string }
  | { readonly joined: object }
  | { readonly failed: LauncherFailure };

/** Parses a line of standard output. Returns `undefined` for other lines, which a library may print. */
export function parseMessage(line: string): EngineMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  let value: Partial<ReadyLine> & {
    readonly notice?: unknown;
    readonly joined?: unknown;
    readonly failed?: { readonly because?: unknown; readonly message?: unknown; readonly code?: unknown };
  };
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { notice, joined, failed } = value;
  if (typeof value.listening === "string" && typeof value.instance_id === "string" && typeof value.pid === "number")
    return { ready: value as ReadyLine };
  if (typeof notice === "string") return { notice };
  if (typeof joined === "object" && joined !== null) return { joined };
  if (typeof failed?.because === "string") return { failed: { because: failed.because } };
  if (
    typeof failed?.message !== "string" ||
    typeof failed.code !== "string" ||
    !Object.hasOwn(ERROR_CODES, failed.code)
  )
    return undefined;
  return { failed: { code: failed.code as ErrorCode, message: failed.message } };
}
