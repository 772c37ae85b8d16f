import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Episode } from "./support/episode.ts";
import { entries, Outside, pathAttempts } from "./support/traversal.ts";

let outside: Outside;

beforeAll(async () => void (outside = await Outside.create()));
afterAll(() => outside.close());

test("no path of a policy leaves the root", async () => {
  const paths = pathAttempts(outside.path);
  expect(paths.length).toBeGreaterThanOrEqual(60);
  for (const path of paths) await outside.attackPath(path);
  expect(outside.through).toEqual([]);
});

test.each(["link to a directory", "hard link", "pipe"])("a %s in the root is not followed", async (name) => {
  await outside.attackEntry(entries[name]!);
  expect(outside.through).toEqual([]);
});

test("names that are not UTF-8, deep directories and directories without permissions are removed with the root", async () => {
  const episode = await Episode.open();
  const bytes = Buffer.concat([Buffer.from(`${episode.root}/`), Buffer.from([0xff, 0xfe])]);
  mkdirSync(bytes);
  writeFileSync(Buffer.concat([bytes, Buffer.from("/f")]), "content");
  mkdirSync(join(episode.root, ...Array.from({ length: 100 }, () => "d")), { recursive: true });
  mkdirSync(join(episode.root, "closed"));
  chmodSync(join(episode.root, "closed"), 0);
  expect(await episode.text("list_files", {})).toContain("d/");
  expect(await episode.close()).toEqual([]);
});
