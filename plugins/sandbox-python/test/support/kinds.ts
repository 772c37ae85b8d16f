import { afterAll, beforeAll, describe, test } from "@jest/globals";
import { PooledSandbox } from "@mrlm/sandbox";
import { pythonBackend } from "../../src/backend.ts";
import { nativeMissing } from "../../src/native-backend.ts";
import { pythonOptions } from "../../src/options.ts";

const KINDS = [
  { kind: "pyodide", missing: undefined },
  { kind: "native", missing: await nativeMissing() },
] as const;

/**
 * Registers tests for both kinds. The tests of a kind share a sandbox. A kind that is unavailable on this machine is skipped, with the reason.
 * @param absent reason to skip all tests
 */
export function describeKinds(what: string, body: (sandbox: () => PooledSandbox) => void, absent?: string): void {
  describe.each(KINDS)(`${what}, kind $kind`, ({ kind, missing }) => {
    const reason = absent ?? missing;
    if (reason !== undefined) {
      test.skip(`not here: ${reason}`, () => {});
      return;
    }
    let sandbox: PooledSandbox | undefined;
    beforeAll(async () => {
      sandbox = new PooledSandbox(await pythonBackend(pythonOptions.parse({ kind, sessions: 2 })));
    });
    afterAll(() => sandbox?.close());
    body(() => sandbox as PooledSandbox);
  });
}
