import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { hostileGroup } from "./support/hostile-episodes.ts";
import { HOSTILE_TEXTS } from "./support/hostile-texts.ts";
import { addGroups, smallRun } from "./support/run-with-episodes.ts";

const folder = temporaryDirectory();

test("mrlm report writes one page without scripts: curves, findings, episodes, in which hostile texts are text", async () => {
  const directory = await smallRun(folder, "reported", 3);
  await addGroups(directory, "evaluation/greedy", HOSTILE_TEXTS.map(hostileGroup));
  const file = join(folder, "report.html");
  expect(await run(["report", directory, "--html", file, "-n", "60"])).toMatchObject({ code: 0 });
  const page = readFileSync(file, "utf8");
  expect(page.match(/<svg /g)?.length).toBeGreaterThan(5);
  expect(page.match(/<h2>[^<]*/g)).toEqual(
    ["Findings", "Curves", "Best episodes", "Worst episodes", "Failed and unscored episodes", "Configuration"].map(
      (name) => `<h2>${name}`,
    ),
  );
  expect(page).toContain("reward/mean");
  expect(page).toContain("&lt;script&gt;globalThis.scriptRan=1&lt;/script&gt;");
  // Every tag is one of the report.
  const tags = new Set(page.match(/<\/?[a-z]\w*/gi));
  const own =
    /^<\/?(html|head|meta|title|style|body|h1|h2|dl|div|dt|dd|p|strong|br|svg|text|path|circle|details|summary|pre)$/;
  expect([...tags].filter((tag) => !own.test(tag))).toEqual([]);
  expect(page).not.toMatch(/[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/);
});

test("mrlm report writes a run without episodes, names a missing run, and leaves no part of a file", async () => {
  const directory = await smallRun(folder, "empty", 1);
  rmSync(join(directory, "episodes.sqlite"));
  expect(await run(["report", directory, "--html", join(folder, "empty.html")])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "empty.html"), "utf8").match(/There are none/g)).toHaveLength(3);
  const missing = await run(["report", join(folder, "missing"), "--html", join(folder, "other.html")]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("RUN_NOT_FOUND") });
  expect(readdirSync(folder).filter((name) => name.startsWith("other"))).toEqual([]);
});
