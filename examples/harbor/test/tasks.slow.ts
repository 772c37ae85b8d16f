// All tasks by harbor@1: the worked solution earns 1; nothing, and each cheat, earns 0.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { cheatsOf, makePlayer, TASKS } from "./support/harbor.ts";

const player = await makePlayer();
if (typeof player === "string") test.skip(`not here: ${player}`, () => undefined);
else {
  afterAll(() => player.close());
  test.each(readdirSync(TASKS))(
    "%s: the solution earns 1; nothing and each cheat earn 0",
    async (name) => {
      const folder = join(TASKS, name);
      expect(await player.play(folder, "oracle")).toBe(1);
      expect(await player.play(folder, "nop")).toBe(0);
      for (const [cheat, script] of cheatsOf(folder))
        expect([cheat, await player.play(folder, { script })]).toEqual([cheat, 0]);
    },
    1_200_000,
  );
}
