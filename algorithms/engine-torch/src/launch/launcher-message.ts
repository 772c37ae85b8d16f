import { ERROR_CODES, type ErrorCode } from "@mrlm/spec";
import type { ReadyLine } from "./ready-line.ts";

/** Why a launcher of ranks ended although nobody asked it to: what became of them, or why they could not start. */
export type LauncherFailure = { readonly because: string } | { readonly code: ErrorCode; readonly message: string };

/** What the engine, or the launcher of its ranks, says on its standard output. */
export type EngineMessage =
  | { readonly ready: ReadyLine }
  | { readonly notice: string }
  | { readonly joined: object }
  | { readonly failed: LauncherFailure };

/** Reads a line of standard output; `undefined` for anything else that a library may print. */
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
