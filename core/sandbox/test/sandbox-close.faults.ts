// npm run test:faults -- sandbox-close: sandboxes that are closed while their children start.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { closeEarly } from "./support/close-early.ts";

test("1,200 sandboxes that are closed within 60 ms of their start wait for the end of their children", async () => {
  await expect(closeEarly(1_200, 2)).resolves.toBeUndefined();
}, 300_000);

test.each([1, 2, 3, 4])(
  "a process that closes 50 sandboxes one after the other ends with code 0 (seed %i)",
  (seed) => {
    const script = fileURLToPath(new URL("support/close-alone.ts", import.meta.url));
    const args = ["--conditions=mrlm-source", "--no-warnings", script, "50", String(seed)];
    const { status, stderr } = spawnSync(process.execPath, args);
    expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: "" });
  },
  120_000,
);
