import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { openServerAccess } from "@mrlm/kit/access";
import { MrlmError } from "@mrlm/spec";
import { createAuthority } from "@mrlm/testing";
import { ACCESS_FAULTS } from "./support/access-faults.ts";
import { expectRefusals } from "./support/expect-refusals.ts";

test.each(Object.entries(ACCESS_FAULTS))("40 times %s: refused before a port opens", async (name, draw) => {
  await expectRefusals(name, 40, draw);
});

test("2,000 files with random changes are read, or refused with CONFIG_INVALID and their path", () => {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-access-"));
  const authority = createAuthority();
  const random = randomStream("changed files", 1);
  let refused = 0;
  for (let i = 0; i < 2_000; i++) {
    const { cert, key } = authority.issue();
    const contents: Record<string, Buffer> = {
      tokens: Buffer.from(`alice ${"a1".repeat(16)}\nbob ${"b2".repeat(16)}\n`),
      cert: Buffer.from(cert),
      key: Buffer.from(key),
      clientCa: Buffer.from(authority.cert),
    };
    const changed = random.pick(Object.keys(contents));
    const bytes = contents[changed] as Buffer;
    const at = random.integer(0, bytes.length - 1);
    contents[changed] = random.pick([
      () => Buffer.from(bytes.map((byte, j) => (j === at ? random.integer(0, 255) : byte))),
      () => bytes.subarray(0, at),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
      () => Buffer.concat([bytes, bytes.subarray(0, at)]),
      () => Buffer.from(Array.from({ length: at }, () => random.integer(0, 255))),
    ])();
    const files = Object.fromEntries(Object.keys(contents).map((name) => [name, join(folder, name)]));
    for (const [name, content] of Object.entries(contents)) writeFileSync(files[name] as string, content);
    try {
      openServerAccess(files, { logger: silentLogger, isReloading: false, tokenGraceMs: 0 }).close();
    } catch (error) {
      if (!MrlmError.hasCode(error, "CONFIG_INVALID")) throw error;
      expect(error.message).toContain(folder);
      refused++;
    }
  }
  rmSync(folder, { recursive: true });
  expect(refused).toBeGreaterThan(1_000);
});
