import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { assertReleased, heldResources } from "../src/provision/held-resources.ts";

const directory = await mkdtemp(join(tmpdir(), "mrlm-test-held-"));
afterAll(() => rm(directory, { recursive: true }));
const onLinux = process.platform === "linux" ? test : test.skip;

/** Returns the message for what an action leaves, whose release then succeeds. */
async function messageAfter(acquire: () => Promise<() => Promise<unknown>>): Promise<string> {
  const before = await heldResources(directory);
  const release = await acquire();
  const { message } = await assertReleased(before, { directory, releaseMs: 0 }, "It was closed").then(
    () => new Error("nothing is held"),
    (error: Error) => error,
  );
  await release();
  await assertReleased(before, { directory, releaseMs: 4_000 }, "It was closed");
  return message;
}

onLinux("a child process that is left is named by its command", async () => {
  const message = await messageAfter(async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"], { stdio: "ignore" });
    await once(child, "spawn");
    return async () => (child.kill("SIGKILL"), await once(child, "exit"));
  });
  expect(message).toContain(`1 x child process (${process.execPath} -e setInterval`);
});

onLinux.each([
  ["of TCP", "127.0.0.1", /socket \(127\.0\.0\.1:\d+ to 127\.0\.0\.1:\d+\)/],
  ["of a path", join(directory, "left.sock"), /socket \(Unix, \/.*left\.sock\)/],
])("sockets %s that are left are named by what they connect", async (_name, place, expected) => {
  const message = await messageAfter(async () => {
    const server = createServer();
    server.listen(place.startsWith("/") ? { path: place } : { host: place, port: 0 });
    await once(server, "listening");
    const client = connect(place.startsWith("/") ? { path: place } : { port: (server.address() as AddressInfo).port });
    await once(client, "connect");
    return async () => (client.destroy(), server.close(), await once(server, "close"));
  });
  expect(message).toMatch(expected);
});
