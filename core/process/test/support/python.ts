import { findPythons } from "../../src/find-pythons.ts";
import { searchOfMachine } from "../../src/python-candidates.ts";
import type { Python } from "../../src/probe-python.ts";
import { runProcess } from "../../src/run-process.ts";

/** A real Python of this machine; `undefined` where there is none, and tests that need one skip. */
export const machinePython: Python | undefined = await findPythons(searchOfMachine(), runProcess).then(
  (found) => found[0],
  () => undefined,
);
