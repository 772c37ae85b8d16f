// npm run test:faults -- tool-python: all cases, and code that attacks its own interpreter, in each kind.
import { expect } from "@jest/globals";
import { HOSTILE_CODES } from "./support/hostile-codes.ts";
import { pythonCases } from "./support/python-cases.ts";
import { describePython } from "./support/sandboxes.ts";

const LIMITS = { wallMs: 2000, cpuMs: 2000, memoryBytes: 128 * 2 ** 20, outputBytes: 2048 };

describePython("the tool", () => pythonCases);

describePython("the tool after hostile code", () =>
  HOSTILE_CODES.map((code) => ({
    name: `returns a result, and is as new in the next episode: ${JSON.stringify(code.slice(0, 60))}`,
    run: async (open) => {
      const attacked = await open({ limits: LIMITS });
      expect(await attacked.call(code)).not.toBe("");
      expect(await attacked.call("1 + 1")).not.toBe("");
      await attacked.close();
      expect(await (await open({ limits: LIMITS })).call("import os, sys\nprint(len('ab'), os.listdir())\n1 + 1")).toBe(
        "2 []\n2",
      );
    },
  })),
);
