import { runProcess } from "../../src/process/run-process.ts";
import { findPythons } from "../../src/python/find-pythons.ts";
import { searchOfMachine } from "../../src/python/python-candidates.ts";
import type { Python } from "../../src/python/probe-python.ts";

/** A real Python of this machine; `undefined` where there is none, and tests that need one skip. */
export const machinePython: Python | undefined = await findPythons(searchOfMachine(), runProcess).then(
  (found) => found[0],
  () => undefined,
);
