// npm run test:faults -- several-engines
import { expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { SIGNALS } from "./support/signals-run.ts";

describeWithEngine("engines that a run starts (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  const train = (name: string, changes: object): Mrlm => {
    const config = { ...SIGNALS, ...changes, output: join(directory, name) };
    return new Mrlm(["train", "--json", "--config", writeConfig(directory, config, `${name}.yaml`)]);
  };
  const alone = train("alone", {}).finished;

  test.each([
    ["engine", "main"],
    ["engine second", "second"],
  ])(
    "the end of %s is named, and the resumed run has the bits of a run with one engine",
    async (role, name) => {
      const split = train(name, { engines: { second: { threads: 2, models: ["receiver"] } } });
      await split.event(({ event, step }) => event === "iteration" && step === 3);
      process.kill(split.pids(role)[0] as number, "SIGKILL");
      const killed = await split.finished;
      expect(killed.stderr).toMatch(new RegExp(`ENGINE_EXITED: Engine \\\\?"${name}\\\\?": .*SIGKILL`));
      const path = /--resume (\S+)/.exec(killed.stderr)?.[1] as string;
      expect(existsSync(join(path, "engines/second/engine.log"))).toBe(true);
      const resumed = await run(["train", "--json", "--resume", path]);
      if (resumed.code !== 0) throw new Error(resumed.stderr);
      const { code, stderr, events } = await alone;
      if (code !== 0) throw new Error(stderr);
      const whole = events.find(({ event }) => event === "summary")?.["directory"] as string;
      expect(outcomeOf(path)).toEqual(outcomeOf(whole));
    },
    600_000,
  );
});
