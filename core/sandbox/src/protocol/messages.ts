import type {
  JsonObject,
  JsonValue,
  SandboxError,
  SandboxLimits,
  SandboxTestResult,
  SandboxTestSuite,
  SandboxVerdict,
  Submission,
} from "@mrlm/spec";

/** Descriptor on which a child reads requests, and the one on which it answers. */
export const REQUEST_FD = 3;
export const ANSWER_FD = 4;

/** The longest frame of a child, in bytes: results of tests, a value. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** What a child is asked to do. `id` is a fresh nonce: an answer without it is no answer. */
export type ChildRequest = { readonly id: string; readonly limits: SandboxLimits } & ChildTask;

export type ChildTask =
  | { readonly op: "run"; readonly submission: Submission }
  | { readonly op: "test"; readonly submission: Submission; readonly suite: SandboxTestSuite }
  /** The child is a session's from now on. */
  | { readonly op: "open"; readonly files: Readonly<Record<string, string>> }
  | { readonly op: "evaluate"; readonly submission: Submission }
  | { readonly op: "snapshot" }
  | { readonly op: "restore"; readonly snapshot: string };

/** How a submission ended, as the trusted part of the child saw it. */
export interface ChildResult {
  readonly verdict: SandboxVerdict;
  readonly value?: JsonValue;
  readonly shown?: string;
  readonly error?: SandboxError;
  readonly exitCode?: number;
  /** Measured by the child where it knows better than the parent, which sees clock ticks of the whole process. */
  readonly cpuMs?: number;
  readonly peakMemoryBytes?: number;
  /** Name of a snapshot. */
  readonly snapshot?: string;
  /** The child could not make itself pristine again: the parent replaces it. */
  readonly spent?: boolean;
}

/** What a child says of itself when it is ready. */
export interface ChildReady {
  /** Writable memory that a run maps without using it (V8 does), in bytes: the kernel's limit on such memory leaves room for it. Unknown: no such limit. */
  readonly reservedBytes?: number;
  /** Resident memory by which it may grow for its own sake while it carries out a request: processes that it prepares for the next ones. It counts toward no limit. Default 0. */
  readonly ownBytes?: number;
}

/** What a child says. All but `ready` carry the nonce of the request. */
export type ChildMessage =
  | ({ readonly type: "ready" } & ChildReady)
  | {
      readonly type: "output";
      readonly id: string;
      readonly stream: "stdout" | "stderr";
      readonly text: string;
      readonly isCut?: boolean;
    }
  /** The submission's top-level code has ended well: the tests begin. */
  | { readonly type: "testing"; readonly id: string }
  | {
      readonly type: "tested";
      readonly id: string;
      readonly index: number;
      readonly result: Omit<SandboxTestResult, "name">;
    }
  | { readonly type: "result"; readonly id: string; readonly result: ChildResult }
  /** The sandbox failed: there is no verdict. */
  | { readonly type: "failed"; readonly id: string; readonly message: string };

/** Reads what a child said; `undefined` if it is malformed. */
export function readMessage(json: JsonValue): ChildMessage | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const { type, id } = json as JsonObject;
  if (type === "ready") return json as unknown as ChildMessage;
  const known = ["output", "testing", "tested", "result", "failed"];
  return typeof type === "string" && known.includes(type) && typeof id === "string"
    ? (json as unknown as ChildMessage)
    : undefined;
}
