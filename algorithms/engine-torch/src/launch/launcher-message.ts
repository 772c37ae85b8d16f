import { ERROR_CODES, type ErrorCode } from "@mrlm/spec";
import type { ReadyLine } from "./ready-line.ts";

/** Why a launcher of ranks ended although nobody asked it to. */
export interface LauncherFailure {
  readonly message: string;
  /** Where the failure has a code of its own, and needs no log to be understood. */
  readonly code?: ErrorCode;
}

/** What the engine, or the launcher of its ranks, says on its standard output. */
export type EngineMessage = { readonly ready: ReadyLine } | { readonly notice: string } | { readonly joined: object } | { readonly failed: LauncherFailure };

/** Reads a line of standard output; `undefined` for anything else that a library may print. */
export function parseMessage(line: string): EngineMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  let value: Partial<ReadyLine> & { readonly notice?: unknown; readonly joined?: unknown; readonly failed?: { readonly message?: unknown; readonly code?: unknown } };
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { notice, joined, failed } = value;
  if (typeof value.listening === "string" && typeof value.instance_id === "string" && typeof value.pid === "number") return { ready: value as ReadyLine };
  if (typeof notice === "string") return { notice };
  if (typeof joined === "object" && joined !== null) return { joined };
  if (typeof failed?.message !== "string") return undefined;
  const { message, code } = failed;
  return { failed: typeof code === "string" && Object.hasOwn(ERROR_CODES, code) ? { message, code: code as ErrorCode } : { message } };
}
