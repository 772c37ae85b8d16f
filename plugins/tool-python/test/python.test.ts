import { describePython, pythonKinds } from "./support/sandboxes.ts";
import { pythonCases } from "./support/python-cases.ts";

// A session of Pyodide that a limit ends takes seconds of processor time to replace: `npm run test:faults -- tool-python` runs all cases in both kinds.
const isNative = pythonKinds.some(({ kind, missing }) => kind === "native" && missing === undefined);

describePython("the tool", (kind) =>
  pythonCases.filter(({ isBrief }) => isBrief === true || kind === "native" || !isNative),
);
