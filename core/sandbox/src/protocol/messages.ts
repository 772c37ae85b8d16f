import type { JsonObject, JsonValue, SandboxError, SandboxLimits, SandboxTestResult } from "@mrlm/spec";
import type { SandboxTestSuite, SandboxVerdict, Submission } from "@mrlm/spec/host";

/** Descriptors of a child: it reads requests from the first and writes answers to the second. */
export const REQUEST_FD = 3;
export const ANSWER_FD = 4;

/** Maximum length of a frame of a child in bytes: results of tests, a value. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Request to a child. `id` is a new nonce that each answer must repeat. */
export type ChildRequest = { readonly id: string; readonly limits: SandboxLimits } & ChildTask;

export type ChildTask =
  | { readonly op: "run"; readonly submission: Submission }
  | { readonly op: "test"; readonly submission: Submission; readonly suite: SandboxTestSuite }
  /** Begins a session. */
  | { readonly op: "open"; readonly files: Readonly<Record<string, string>> }
  | { readonly op: "evaluate"; readonly submission: Submission }
  | { readonly op: "snapshot" }
  | { readonly op: "restore"; readonly snapshot: string }
  /** Ends the session; the next one begins in an unused interpreter. */
  | { readonly op: "close" };

/** Result of a submission, as the trusted part of the child reports it. */
export interface ChildResult {
  readonly verdict: SandboxVerdict;
  readonly value?: JsonValue;
  readonly shown?: string;
  readonly error?: SandboxError;
  readonly exitCode?: number;
  /** Files that the submission asked for, in base64. */
  readonly files?: Readonly<Record<string, string>>;
  /** Measured by the child where it is more exact than the parent, which measures the whole process in clock ticks. */
  readonly cpuMs?: number;
  readonly peakMemoryBytes?: number;
  /** Name of a snapshot. */
  readonly snapshot?: string;
  /** The child could not restore its initial state: the parent replaces it. */
  readonly spent?: boolean;
}

/** Properties of a child that is ready. */
export interface ChildReady {
  /** Writable memory in bytes that a run maps without using it, as V8 does; added to the kernel's limit. Unknown: no kernel limit. */
  readonly reservedBytes?: number;
  /** Resident memory in bytes that the child itself may need during a request, such as for runners of later requests. No limit counts it. Default 0. */
  readonly ownBytes?: number;
}

/** Message of a child. All but `ready` have the nonce of the request. */
export type ChildMessage =
  | ({ readonly type: "ready" } & ChildReady)
  | {
      readonly type: "output";
      readonly id: string;
      readonly stream: "stdout" | "stderr";
      readonly text: string;
      readonly isCut?: boolean;
    }
  /** The submission's top-level code has ended without error and the tests begin. */
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

/** Reads a message of a child; `undefined` if it is malformed. */
export function readMessage(json: JsonValue): ChildMessage | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return undefined;
  const { type, id } = json as JsonObject;
  if (type === "ready") return json as unknown as ChildMessage;
  const known = ["output", "testing", "tested", "result", "failed"];
  return typeof type === "string" && known.includes(type) && typeof id === "string"
    ? (json as unknown as ChildMessage)
    : undefined;
}

/** Returns a submission whose standard input and files can be written as UTF-8: half of a surrogate pair becomes U+FFFD, in every kind of sandbox. */
export function withReadableInput(submission: Submission): Submission {
  const { stdin, files } = submission;
  return {
    ...submission,
    ...(stdin !== undefined && { stdin: stdin.toWellFormed() }),
    ...(files !== undefined && { files: withReadableFiles(files) }),
  };
}

/** Returns files whose texts can be written as UTF-8. */
export function withReadableFiles<File>(files: Readonly<Record<string, File>>): Record<string, File> {
  const readable = (file: File): File => (typeof file === "string" ? (file.toWellFormed() as File) : file);
  return Object.fromEntries(Object.entries(files).map(([path, file]) => [path, readable(file)]));
}
