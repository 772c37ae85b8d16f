import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ROOT, run } from "../e2e/support/mrlm.ts";

/** Plugins with one defect that need a real sandbox, on which the broken plugins of core/testing cannot depend. */
const FOLDER = "test/plugins/broken";

test.each(readdirSync(join(ROOT, FOLDER)))(
  "the check of %s reports its defect and nothing else",
  async (name) => {
    const { expects } = JSON.parse(readFileSync(join(ROOT, FOLDER, name, "package.json"), "utf8")) as {
      readonly expects: string;
    };
    const { events } = await run(["check", `${FOLDER}/${name}`, "--json"]);
    expect(events.filter(({ event }) => event === "finding").map(({ code }) => code)).toEqual([expects]);
  },
  120_000,
);
