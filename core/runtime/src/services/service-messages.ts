import { type ErrorCode, MrlmError } from "@mrlm/spec";
import { describeThrown } from "../plugins/error-location.ts";
import type { ServiceKind } from "../plugins/plugin-kinds.ts";

/** Messages between two processes, in order. They are copied as by `structuredClone`. */
export interface ServiceChannel {
  /** Throws for a body that cannot be copied. */
  send(body: unknown): void;
  /** @returns a function that removes the listener */
  onMessage(listener: (body: unknown) => void): () => void;
  /** Aborts when the other process is gone. */
  readonly closed: AbortSignal;
}

/** Object of the process that has the services: a service, or what a call of one has opened. */
export interface RemoteObject {
  readonly id: number;
  readonly kind: ServiceKind | "session" | "opened" | "function";
  /** Plugin that made a service. */
  readonly plugin?: string;
  /** Its values; those of a session and of opened tools change. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Optional methods that it has. */
  readonly methods: readonly string[];
}

/** Options of a call that are no data. */
export interface CallParts {
  /** Whether there is a signal, and whether it is aborted already. */
  readonly signal: false | "active" | "aborted";
  readonly queued: boolean;
  readonly progressed: boolean;
}

/** Message to the process that has the services. */
export type ToServices =
  | {
      readonly type: "service";
      readonly call: number;
      readonly kind: ServiceKind;
      readonly id: string;
      readonly asker: string;
    }
  | {
      readonly type: "call";
      readonly call: number;
      readonly object: number;
      readonly method: string;
      readonly given: readonly unknown[];
      /** Last argument, without the parts. */
      readonly options: object | undefined;
      readonly parts: CallParts;
    }
  | { readonly type: "abort"; readonly call: number };

/** Message of the process that has the services. */
export type FromServices =
  | { readonly type: "value"; readonly call: number; readonly value: unknown }
  | { readonly type: "object"; readonly call: number; readonly object: RemoteObject }
  | { readonly type: "error"; readonly call: number; readonly error: ErrorMessage }
  /** The call begins, or ends, a wait for a place. */
  | { readonly type: "wait"; readonly call: number; readonly wait: number; readonly isOver: boolean }
  | { readonly type: "progressed"; readonly call: number }
  | { readonly type: "state"; readonly object: number; readonly values: RemoteObject["values"] };

/** Error between processes. */
export interface ErrorMessage {
  /** Absent: an error of a plugin. */
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly retryDelayMs?: number | undefined;
  readonly isRetryable?: boolean;
}

export function errorMessage(error: unknown): ErrorMessage {
  if (!MrlmError.isInstance(error)) return { message: describeThrown(error) };
  const { code, message, hint, retryDelayMs, isRetryable } = error;
  return { code, message, hint, retryDelayMs, isRetryable };
}

export function errorOf({ code, message, hint, retryDelayMs, isRetryable = false }: ErrorMessage): Error {
  if (code === undefined) return new Error(message);
  return new MrlmError(code, message, {
    isRetryable,
    ...(hint !== undefined && { hint }),
    ...(retryDelayMs !== undefined && { retryDelayMs }),
  });
}
