import { describe, expect, test } from "@jest/globals";
import { type ErrorCode, MrlmError } from "@mrlm/spec";
import { ERROR_CODES } from "@mrlm/spec/host";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { errorCodec, errorOfStatus, isConnectionLoss, reasonOf, statusOfError } from "../src/index.ts";

const codes = { unavailable: "SERVER_UNAVAILABLE", failed: "INTERNAL", peer: "The server at host:1" } as const;

/** Makes a status as @grpc/grpc-js throws it in the client. */
function thrown(code: status, details: string, metadata = new Metadata()): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata });
}

describe("errors over the wire", () => {
  test("every code comes back with message, hint, retryability and delay", () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const error = new MrlmError(code, "what happened", { hint: "what to do", isRetryable: true, retryDelayMs: 250 });
      const sent = statusOfError(error);
      const {
        message,
        hint,
        isRetryable,
        retryDelayMs,
        code: rebuilt,
      } = errorOfStatus(thrown(sent.code, sent.details, sent.metadata), codes);
      expect({ code: rebuilt, message, hint, isRetryable, retryDelayMs }).toEqual({
        code,
        message: "what happened",
        hint: "what to do",
        isRetryable: true,
        retryDelayMs: 250,
      });
      expect(sent.code).not.toBe(status.OK);
    }
  });

  test("the message of an unexpected error is not sent", () => {
    expect(errorCodec.encode(new Error("password=hunter2"))).toMatchObject({
      code: "INTERNAL",
      message: expect.not.stringContaining("hunter2"),
    });
  });

  test("a newer peer's code is named", () => {
    const detail = { code: "BRAND_NEW", message: "no", hint: "", retryable: false, retryDelayMs: 0 };
    expect(errorCodec.decode(detail, "ENGINE_FAILED")).toMatchObject({
      code: "ENGINE_FAILED",
      message: "[BRAND_NEW] no",
    });
  });

  test("a status of gRPC itself has a code and names the peer", () => {
    expect(errorOfStatus(thrown(status.UNAVAILABLE, "refused"), codes)).toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: "The server at host:1 cannot be reached: refused",
    });
    expect(errorOfStatus(thrown(status.CANCELLED, ""), codes).code).toBe("CANCELLED");
    expect(errorOfStatus(thrown(status.UNIMPLEMENTED, ""), codes).code).toBe("PROTOCOL_VERSION");
    expect(errorOfStatus(thrown(status.DATA_LOSS, "lost"), codes)).toMatchObject({
      code: "INTERNAL",
      message: expect.stringContaining("DATA_LOSS"),
    });
  });

  test("an error of a failed connection contains the reason alone", () => {
    expect(reasonOf("No connection established. Last error: connect ECONNREFUSED 127.0.0.1:9. Resolution note: ")).toBe(
      "connect ECONNREFUSED 127.0.0.1:9",
    );
    expect(reasonOf("No connection established. Last error: null. Resolution note: ")).toBe(
      "No connection established. Last error: null",
    );
    expect(reasonOf("Name resolution failed for target dns:host:1")).toBe(
      "Name resolution failed for target dns:host:1",
    );
  });

  test("only a lost connection counts as one", () => {
    const described = statusOfError(new MrlmError("SERVER_UNAVAILABLE", "draining"));
    expect(isConnectionLoss(thrown(status.UNAVAILABLE, "reset"))).toBe(true);
    expect(isConnectionLoss(thrown(described.code, described.details, described.metadata))).toBe(false);
    expect(isConnectionLoss(thrown(status.INTERNAL, ""))).toBe(false);
  });
});
