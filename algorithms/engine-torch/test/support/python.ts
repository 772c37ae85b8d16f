import { findPythons, type Python, runProcess, searchOfMachine } from "@mrlm/process/python";

/** A real Python of this machine; `undefined` where there is none, and tests that need one skip. */
export const machinePython: Python | undefined = await findPythons(searchOfMachine(), runProcess).then(
  (found) => found[0],
  () => undefined,
);
