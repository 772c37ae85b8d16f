import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { crc32c, maskedCrc32c } from "../src/event.ts";
import { tensorboard } from "../src/index.ts";

const run = mkdtempSync(join(tmpdir(), "mrlm-tensorboard-"));
afterAll(() => rmSync(run, { recursive: true, force: true }));

const READ = `
import sys, json
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1]); events.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
`;
const python = process.env["MRLM_TEST_PYTHON"] ?? "python3";
const hasTensorboard = (() => {
  try {
    execFileSync(python, ["-c", "import tensorboard"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

async function log(resumedAt: number | undefined, steps: readonly number[]): Promise<void> {
  const tracker = await tensorboard.start({ run, name: "run", config: {}, resumedAt }, {});
  for (const step of steps)
    await tracker.log({ step, kind: "iteration", stage: "grpo", metrics: { "reward/mean": step / 4, länge: 1e-3 } });
  await tracker.close("finished");
}

describe("event files", () => {
  test("CRC-32C of RFC 3720's examples", () => {
    expect([
      crc32c(new Uint8Array(32)),
      crc32c(new Uint8Array(32).fill(255)),
      crc32c(Buffer.from("123456789")),
    ]).toEqual([0x8a9136aa, 0x62a8ab43, 0xe3069283]);
  });

  test("are records whose lengths and checksums fit, the first of them the version", async () => {
    await log(undefined, [1, 2, 3, 300]);
    const bytes = readFileSync(join(run, "tensorboard", readdirSync(join(run, "tensorboard"))[0] as string));
    const records: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const length = Number(bytes.readBigUInt64LE(at));
      const data = bytes.subarray(at + 12, at + 12 + length);
      expect([bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 12 + length)]).toEqual([
        maskedCrc32c(bytes.subarray(at, at + 8)),
        maskedCrc32c(data),
      ]);
      records.push(data);
      at += length + 16;
    }
    expect([records.length, records[0]?.toString("latin1").includes("brain.Event:2")]).toEqual([5, true]);
  });

  (hasTensorboard ? test : test.skip)(
    "TensorBoard reads them; after a resume it forgets what the run does again (skipped where no Python has tensorboard)",
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 1100)); // Files are read in the order of their seconds.
      await log(2, [2, 3, 4]);
      const read = JSON.parse(
        execFileSync(python, ["-c", READ, join(run, "tensorboard")], {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        }),
      ) as Record<string, number[][]>;
      expect(read["reward/mean"]).toEqual([
        [1, 0.25],
        [2, 0.5],
        [3, 0.75],
        [4, 1],
      ]);
      expect(read["länge"]).toHaveLength(4);
    },
  );
});
