import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { withSetupLock } from "../src/setup-lock.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const root = temporaryDirectory();

const HOLD = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec("BEGIN EXCLUSIVE");
  console.log("held");
  setInterval(() => {}, 1000);
`;

test("a lock whose holder was killed is free", async () => {
  const path = join(root, "deep", "setup.lock");
  await expect(
    withSetupLock(
      path,
      () => {},
      async () => "made",
    ),
  ).resolves.toBe("made");
  const holder = spawn(process.execPath, ["-e", HOLD, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  let waited = 0;
  const work = withSetupLock(
    path,
    () => {
      waited += 1;
      holder.kill("SIGKILL");
    },
    async () => holder.signalCode,
  );
  await expect(work).resolves.toBe("SIGKILL");
  expect(waited).toBe(1);
});

test("a failure inside releases it", async () => {
  const path = join(root, "setup.lock");
  await expect(
    withSetupLock(
      path,
      () => {},
      () => Promise.reject(new Error("boom")),
    ),
  ).rejects.toThrow("boom");
  await expect(
    withSetupLock(
      path,
      () => {},
      async () => 1,
    ),
  ).resolves.toBe(1);
});
