import { test } from "@jest/globals";
import { interpreterOf } from "../../src/python-set.ts";

/** Interpreter of this machine; `undefined` where there is none, and tests that need one skip. */
export const interpreter: string | undefined = await interpreterOf([], () => undefined).catch(() => undefined);

/** Registers a test that needs a Python. */
export const pythonTest: typeof test = interpreter === undefined ? (test.skip as typeof test) : test;
