import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { PooledSandbox } from "../src/index.ts";
import { closeEarly } from "./support/close-early.ts";
import { fragileBackend } from "./support/fragile-backend.ts";

describe("a child that breaks down", () => {
  let sandbox: PooledSandbox;
  /** Returns the verdict, and the number of runs of its child so far. */
  const outcome = async (code: string): Promise<readonly [string, unknown]> => {
    const { verdict, value } = await sandbox.run({ code });
    return [verdict, value];
  };

  beforeEach(() => {
    sandbox = new PooledSandbox({ backend: fragileBackend, pool: { children: 1 } });
  });
  afterEach(() => sandbox.close());

  test("may owe it to an earlier submission: the run is repeated in a new one", async () => {
    expect(await outcome("live")).toEqual(["ok", 1]);
    expect(await outcome("live")).toEqual(["ok", 2]);
    expect(await outcome("die if used")).toEqual(["ok", 1]);
  });

  test("twice, or when it is new, is the fault of this submission", async () => {
    expect(await outcome("die")).toEqual(["killed", undefined]);
    expect(await outcome("live")).toEqual(["ok", 1]);
    expect(await outcome("die")).toEqual(["killed", undefined]);
    expect(await outcome("live")).toEqual(["ok", 1]);
  });
});

test("U4: a call waits for a child in `queued`, and runs outside of it", async () => {
  const sandbox = new PooledSandbox({ backend: fragileBackend, pool: { children: 1 }, sessions: 1 });
  const events: string[] = [];
  const named = (name: string) => ({
    async queued<T>(wait: () => Promise<T>): Promise<T> {
      events.push(`${name} waits`);
      const place = await wait();
      events.push(`${name} begins`);
      return place;
    },
  });
  await sandbox.warm();
  const hanging = sandbox.run({ code: "hang", limits: { wallMs: 200 } }, named("hang"));
  const next = sandbox.run({ code: "live" }, named("next"));
  await hanging.then(() => events.push("hang ended"));
  await next;
  expect(events.filter((event) => event !== "hang ended")).toEqual(["next waits", "next begins"]);
  const open = await sandbox.session();
  const waiting = sandbox.session(named("session"));
  expect(events.at(-1)).toBe("session waits");
  await open.close();
  await (await waiting).close();
  await sandbox.close();
});

test("a sandbox that is closed while its children start waits for their end, and leaves none", async () => {
  await expect(closeEarly(24, 1)).resolves.toBeUndefined();
});

test("a killed child keeps a process that waits for its exit alive", () => {
  const script = fileURLToPath(new URL("support/kill-alone.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ["--conditions=mrlm-source", "--no-warnings", script]);
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: "" });
});
