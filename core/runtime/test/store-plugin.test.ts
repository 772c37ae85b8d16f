import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { loadConfig } from "../src/config/load-config.ts";
import { storePlaceOf } from "../src/plugins/store-plugin.ts";
import { checkStore } from "../src/prepare/check-store.ts";
import { RunDirectory } from "../src/run/run-directory.ts";
import { CONFIG, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const URL_OF_DATABASE = "postgres://user@db.example/episodes";
/** The plugin of this project, where it has one. */
const WITHOUT = { "@mrlm/store-postgres": false };

/** Writes a package that provides stores in Postgres. Returns the URL of its module. */
function writePlugin(directory: string): string {
  mkdirSync(directory);
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["store:postgres"] };
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "own-store", version: "1.0.0", mrlm }));
  return pathToFileURL(join(directory, "index.js")).href;
}

test("a file needs no plugin; a database has the one that the configuration names, of the run's folder too", () => {
  const folder = temporaryDirectory();
  expect(storePlaceOf("episodes.sqlite")).toEqual({ path: "episodes.sqlite" });
  const plugin = writePlugin(join(folder, "own"));
  const plugins = { ...WITHOUT, "./own": {} };
  expect(storePlaceOf(URL_OF_DATABASE, { plugins, relativeTo: folder })).toEqual({ path: URL_OF_DATABASE, plugin });
  writeFileSync(join(folder, "config.yaml"), stringify({ plugins, base_directory: folder }));
  writeFileSync(join(folder, "run.json"), JSON.stringify({ store: `${URL_OF_DATABASE}?run=1` }));
  const run = RunDirectory.open(folder);
  expect(run.store).toEqual({ path: `${URL_OF_DATABASE}?run=1`, plugin });
});

test("a configuration whose database no plugin opens is an error at its place, before anything is started", () => {
  const path = join(temporaryDirectory(), "run.yaml");
  writeFileSync(path, stringify({ ...CONFIG, store: URL_OF_DATABASE, plugins: WITHOUT }));
  expect(() => checkStore(loadConfig(path))).toThrow(
    expect.objectContaining({
      code: "PLUGIN_NOT_FOUND",
      message: expect.stringMatching(
        /run\.yaml:\d+.*is in Postgres, and no plugin that provides store:postgres was found/s,
      ),
      hint: expect.stringContaining("`npm install @mrlm/store-postgres`"),
    }),
  );
  writeFileSync(path, stringify({ ...CONFIG, plugins: WITHOUT }));
  checkStore(loadConfig(path));
});
