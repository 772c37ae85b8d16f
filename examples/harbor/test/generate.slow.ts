// Generated tasks by harbor@1: each fault is noticed, the repair earns 1, and the cheats of a sample earn 0.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { MODULES } from "../generate/modules.ts";
import { repairTask, type RepairTask, taskWith } from "../generate/repair-task.ts";
import { cheatsOf, makePlayer } from "./support/harbor.ts";

const player = await makePlayer();
const root = mkdtempSync(join(tmpdir(), "mrlm-generated-"));

function write({ name, files }: RepairTask): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name, path)), { recursive: true });
    writeFileSync(join(root, name, path), text);
  }
  return join(root, name);
}

if (typeof player === "string") test.skip(`not here: ${player}`, () => undefined);
else {
  afterAll(async () => {
    await player.close();
    rmSync(root, { recursive: true, force: true });
  });

  test.each(
    MODULES.flatMap((module) => module.faults.map((fault) => [module.name, fault.kind, module, fault] as const)),
  )(
    "%s, %s: the repair earns 1, nothing earns 0",
    async (name, kind, module, fault) => {
      const folder = write(taskWith(`${name}-${kind.replaceAll(" ", "-")}`, module, fault, randomStream(name, 0)));
      expect([await player.play(folder, "oracle"), await player.play(folder, "nop")]).toEqual([1, 0]);
    },
    600_000,
  );

  test("8 drawn tasks: the repair earns 1, nothing and the cheats earn 0", async () => {
    for (let index = 0; index < 8; index++) {
      const folder = write(repairTask(7, index));
      expect([await player.play(folder, "oracle"), await player.play(folder, "nop")]).toEqual([1, 0]);
      for (const [cheat, script] of cheatsOf(folder))
        expect([folder, cheat, await player.play(folder, { script })]).toEqual([folder, cheat, 0]);
    }
  }, 1_200_000);
}
