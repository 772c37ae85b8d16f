import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Mrlm, ROOT } from "../e2e/support/mrlm.ts";
import { KWARGS, scoresOf } from "./python-env/measure-task-set.ts";
import { rowsOf } from "./python-env/table.ts";
import { clientWheel } from "./support/client-wheel.ts";
import { interpreterOf } from "./support/peer-python.ts";

const run = promisify(execFile);
const FOLDER = "test/interop/python-env";
/** Sets of the sample: quick ones, one of each kind of row. */
const SAMPLED = [
  "chain_sum",
  "composite",
  "countdown",
  "graph_color",
  "gsm_symbolic",
  "knights_knaves",
  "spell_backward",
];

const found = await interpreterOf({ folder: FOLDER });
const wheel = await clientWheel();

if ("reason" in found || "reason" in wheel)
  test.skip(`python-env@1 with its libraries (${"reason" in found ? found.reason : (wheel as { reason: string }).reason})`, () =>
    undefined);
else {
  let server: Mrlm;
  let address: string;
  beforeAll(async () => {
    server = new Mrlm(["serve", "--json", "--environments", "python-env", "--port", "0"]);
    address = (await server.event(({ event }) => event === "listening"))["address"] as string;
  }, 60_000);
  afterAll(async () => {
    server.child.kill("SIGTERM");
    await server.finished;
  });

  test("check_env of Gymnasium, api_test and seed_test of PettingZoo; the same rewards as without mrlm", async () => {
    const env = { ...process.env, PYTHONPATH: wheel.folder };
    const args = [join(ROOT, FOLDER, "check.py"), address, found.python];
    const { stdout } = await run(found.python, args, { env, timeout: 280_000 });
    const { gymnasium, pettingzoo } = JSON.parse(stdout.trim().split("\n").at(-1) as string) as Record<string, number>;
    expect(gymnasium).toBe(40);
    expect(pettingzoo).toBeGreaterThan(400);
  }, 300_000);

  describe("reasoning-gym", () => {
    const rows = rowsOf(readFileSync(join(ROOT, "environments/python/REASONING-GYM.md"), "utf8"));

    test("the lines of each deviation print what they state", async () => {
      const page = readFileSync(join(ROOT, "environments/python/REASONING-GYM.md"), "utf8");
      const blocks = [...page.matchAll(/```python\n(.*?)```/gs)].map(([, code = ""]) => code);
      const stated = blocks.filter((code) => /#\s+[\d.]+$/m.test(code) && !code.includes(", ...)"));
      const program = `
import contextlib, io, json, sys
import reasoning_gym
wrong = []
for code in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {"reasoning_gym": reasoning_gym})
    if abs(float(out.getvalue()) - float(code.rsplit("#", 1)[1])) > 1e-3:
        wrong.append((code, out.getvalue()))
print(json.dumps(wrong))
`;
      const running = run(found.python, ["-W", "ignore", "-c", program], { timeout: 280_000 });
      running.child.stdin?.end(JSON.stringify(stated));
      const { stdout } = await running;
      expect(stated.length).toBeGreaterThan(10);
      expect(JSON.parse(stdout.trim().split("\n").at(-1) as string)).toEqual([]);
    }, 300_000);

    test("every task set of the installed version has a row", async () => {
      const program = "import json; from reasoning_gym.factory import DATASETS; print(json.dumps(sorted(DATASETS)))";
      const { stdout } = await run(found.python, ["-c", program]);
      expect([...rows.keys()].toSorted()).toEqual(JSON.parse(stdout.trim().split("\n").at(-1) as string));
    });

    test.each(SAMPLED)(
      "%s is as the table states",
      async (name) => {
        const kwargs = KWARGS[name] ?? {};
        const scores = await scoresOf({ kind: "reasoning_gym", name, kwargs, python: found.python, processes: 1 });
        const { reference, empty, digest } = scores;
        expect(rows.get(name)).toMatchObject({
          reference: reference === null ? "none" : shown(reference),
          empty: shown(empty),
          digest,
        });
      },
      120_000,
    );
  });
}

function shown(score: number): string {
  return String(Number(score.toFixed(3)));
}
