import { expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import { EXIT, exitCodeOf } from "../src/exit-codes.ts";

test.each([
  [new MrlmError("CONFIG_INVALID", "x"), EXIT.invalid],
  [new MrlmError("PORT_IN_USE", "x"), EXIT.invalid],
  [new MrlmError("OUTPUT_INVALID", "x"), EXIT.invalid],
  [new MrlmError("WRITE_FAILED", "x"), EXIT.failure],
  [new MrlmError("SANDBOX_UNSAFE", "x"), EXIT.invalid],
  [new MrlmError("CHECKPOINT_INCOMPLETE", "x"), EXIT.invalid],
  [new MrlmError("RUN_NOT_FOUND", "x"), EXIT.invalid],
  [new MrlmError("ENGINE_NOT_SET_UP", "x"), EXIT.engine],
  [new MrlmError("PYTHON_VERSION", "x"), EXIT.engine],
  [new MrlmError("ENGINE_EXITED", "x"), EXIT.failure],
  [new Error("x"), EXIT.failure],
  ["x", EXIT.failure],
])("%s", (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});
