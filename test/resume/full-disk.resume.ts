import { beforeAll, expect, test } from "@jest/globals";
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Finished, Mrlm, ROOT, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { directoryIn, leaveAlone } from "./support/kill-often.ts";
import { grpoAlone, WARM } from "./support/scenarios.ts";
import { canLimitDisk, smallDisk } from "./support/small-disk.ts";

const directory = temporaryDirectory();
const model = join(directory, "model");
const { config } = grpoAlone(model);

describeWithEngine("a disk that is full while a run writes (skipped where `npm run setup` has not run)", () => {
  beforeAll(async () => {
    const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
    renameSync(join(warm.directory, "model"), model);
  }, 600_000);

  // Shares of what the run needs in the end. Without checkpoints, its records need most of that.
  (canLimitDisk ? test : test.skip).each([
    ["with checkpoints", config, [0.1, 0.3, 0.5, 0.7, 0.9]],
    ["without checkpoints", { ...config, checkpoint: { every: 0 } }, [0.3, 0.5, 0.7, 0.9]],
  ] as const)(
    "%s: the run states what it could not write, and with room it resumes to the same bits (skipped without bubblewrap)",
    async (name, config, shares) => {
      const path = writeConfig(directory, config, `${name}.yaml`);
      const undisturbed = await leaveAlone(path, join(directory, `${name}-alone`));
      const needed = bytesIn(undisturbed.directory);
      for (const share of shares) {
        const copy = join(directory, `${name}-${share}`);
        mkdirSync(copy);
        const { output, jail } = smallDisk(Math.ceil(share * needed), copy);
        const ended = await new Mrlm(["train", "--json", "--config", path, "--output", output], {}, ROOT, jail)
          .finished;
        process.stderr.write(`${name}, ${share} of ${needed} bytes: ${errorOf(ended)?.["message"]}\n`);
        expect([ended.code, errorOf(ended)]).toEqual([
          1,
          expect.objectContaining({
            code: expect.stringMatching(/^(WRITE|STORE)_FAILED$/),
            message: expect.stringMatching(/No space left on device|no space left|disk is full/),
            hint: expect.stringMatching(/room|space/),
          }),
        ]);
        const found = directoryIn(copy) as string;
        expect((await run(["train", "--json", "--resume", found])).code).toBe(0);
        expect(outcomeOf(found)).toEqual(undisturbed.outcome);
      }
    },
    1_800_000,
  );
});

function errorOf({ events }: Finished): Finished["events"][number] | undefined {
  return events.find(({ event }) => event === "error");
}

/** Returns the bytes of the files in a directory. */
function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
