import { afterAll, beforeAll, describe, test } from "@jest/globals";
import type { PooledSandbox } from "@mrlm/sandbox";
import { sandboxContract } from "@mrlm/testing";
import { kinds, makeSandbox } from "./support/kinds.ts";

for (const { kind, missing } of kinds) {
  describe(`Python, kind ${kind}`, () => {
    if (missing !== undefined) {
      test.skip(`not here: ${missing}`, () => {});
      return;
    }
    let sandbox: PooledSandbox;
    beforeAll(async () => {
      sandbox = await makeSandbox(kind);
    });
    afterAll(() => sandbox.close());
    sandboxContract({ name: `the Python sandbox of the kind ${kind}`, make: () => sandbox, registry: { describe, test } });
  });
}
