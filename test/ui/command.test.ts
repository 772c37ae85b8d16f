import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Mrlm } from "../e2e/support/mrlm.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";

const folder = temporaryDirectory();

test("mrlm ui serves the page until it is interrupted", async () => {
  const runs = join(folder, "runs");
  mkdirSync(runs);
  const server = new Mrlm(["ui", runs, "--port", "0", "--json"]);
  const { url } = await server.event(({ event }) => event === "listening");
  const page = await (await fetch(String(url))).text();
  expect(await (await fetch(`${String(url)}api/runs`)).json()).toEqual({ runs: [] });
  server.child.kill("SIGINT");
  expect(page).toContain('<script type="module" src="/page.js">');
  expect(await server.finished).toMatchObject({ code: 0 });
});

test("mrlm ui names a missing folder, and refuses an address that other machines reach without a token", async () => {
  const [missing, open] = await Promise.all([
    runHere(["ui", join(folder, "missing")]),
    runHere(["ui", folder, "--host", "0.0.0.0"]),
  ]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("RUN_NOT_FOUND") });
  expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("ADDRESS_INSECURE") });
});
