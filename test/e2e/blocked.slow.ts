import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { fakePython } from "./support/fake-python.ts";
import { isAlive, Mrlm } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const directory = temporaryDirectory();

const ENDLESS = 'process.stderr.write("in the loop\\n"); for (;;);';

/** Source of an environment that runs a statement when its tasks are made, so that the test needs no engine. Without the option `loop`, validation fails. */
const ENTRY = (deadlineMs: number, body: string): string => `
const schema = { "~standard": { version: 1, vendor: "test", validate: (value) => (value.loop ? { value } : { issues: [{ message: "set loop" }] }) } };
const endless = () => { ${body} };
export default { apiVersion: 1, name: "endless", environments: [{ id: "endless@1", description: "", determinism: "full", options: schema, deadlines: { setupMs: ${deadlineMs} }, tasks: endless, create: endless }] };
`;

function train(deadlineMs: number, body = ENDLESS): Mrlm {
  const folder = join(directory, `plugin-${deadlineMs}`);
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "endless",
      version: "1.0.0",
      type: "module",
      mrlm: { apiVersion: 1, entry: "./index.js", provides: ["environment:endless@1"] },
    }),
  );
  writeFileSync(join(folder, "index.js"), ENTRY(deadlineMs, body));
  const config = {
    ...TINY,
    plugins: { [folder]: true },
    environments: [{ id: "endless", options: { loop: true } }],
    server: { spawn: true },
  };
  return new Mrlm(
    ["train", "--json", "--config", writeConfig(directory, config, `${deadlineMs}.yaml`), "--output", directory],
    { MRLM_ENGINE_PYTHON: fakePython(directory, "3.12") },
  );
}

test("an environment that blocks its server ends the run past its deadline, with its name and phase; the server goes too", async () => {
  const mrlm = train(100);
  const { code, events, stderr } = await mrlm.finished;
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^error DEADLINE_EXCEEDED: Environment endless@1 has blocked its process .* setup phase/m),
  ]);
  expect(events.at(-1)).toMatchObject({ event: "error", code: "DEADLINE_EXCEEDED" });
  expect(mrlm.pids("server").filter(isAlive)).toEqual([]);
}, 300_000);

test("a second Ctrl-C ends a server whose event loop is blocked", async () => {
  const mrlm = train(600_000);
  await mrlm.printed("in the loop");
  for (const words of ["again to stop at once", ""]) {
    mrlm.child.kill("SIGINT");
    await mrlm.printed(words);
  }
  expect((await mrlm.finished).code).toBe(130);
  const pids = mrlm.pids("server");
  expect(pids).toHaveLength(1);
  while (pids.some(isAlive)) await sleep(50);
}, 300_000);

test("U10: an environment that ends its server again and again ends the run after the last restart, without the wait for a lost server", async () => {
  const { code, stderr } = await train(5000, "process.exit(3);").finished;
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error SERVER_UNAVAILABLE: The environment server ended with code 3, after 5 restarts; it is not restarted\.\n {2}.*process\.exit/m,
    ),
  ]);
  expect(stderr).not.toContain("could not be reached");
}, 300_000);
