import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Mrlm, ROOT } from "../e2e/support/mrlm.ts";
import { testPeer } from "./support/peer-python.ts";
import { clientWheel } from "./support/client-wheel.ts";

const run = promisify(execFile);
const FOLDER = join(ROOT, "test/interop/python-client");
const ENVIRONMENTS = ["nim", "signals", "consultation", "debate", "math", "tools", "relay", "outcomes", "research"];

let server: Mrlm;
let address: string;
beforeAll(async () => {
  const config = join(ROOT, "test/python-client/environments/environments.yaml");
  server = new Mrlm(["serve", "--json", "--environments", ENVIRONMENTS.join(","), "--config", config, "--port", "0"]);
  address = (await server.event(({ event }) => event === "listening"))["address"] as string;
}, 60_000);
afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.finished;
});

const wheel = await clientWheel();

if ("reason" in wheel) test.skip(`the wheel of mrlm-client (${wheel.reason})`, () => undefined);
else {
  test("the wheel of mrlm-client in a new virtual environment: check_env of Gymnasium, api_test and seed_test of PettingZoo", async () => {
    const python = await wheel.install(join(FOLDER, "requirements.txt"));
    const readme = join(ROOT, "core/client/python/README.md");
    const { stdout } = await run(python, [join(FOLDER, "check.py"), address, readme], { timeout: 240_000 });
    const found = JSON.parse(stdout.trim().split("\n").at(-1) as string) as Record<string, unknown>;
    expect(found).toEqual({
      package: expect.stringContaining("site-packages/mrlm_client"),
      warnings: [],
      tool: "42",
      errors: ["SEED_REFUSED", "unscored JUDGE_FAILED", "ROLES_UNSUPPORTED"],
      pettingzoo: 7,
      readme: 2,
    });
  }, 300_000);

  const env = { PYTHONPATH: wheel.folder };

  const GYMNASIUM = { folder: "examples/interop/gymnasium", program: "run.py", env };
  await testPeer("Gymnasium plays 64 episodes of math@1", GYMNASIUM, async (play) => {
    const found = (await play(address)) as { readonly sums: number };
    expect(found).toMatchObject({ episodes: 64, mean_rewards: { sums: 1 } });
    expect(found.sums).toBeGreaterThan(0);
  });
}
