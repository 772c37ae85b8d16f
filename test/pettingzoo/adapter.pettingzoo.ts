import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Mrlm, ROOT } from "../e2e/support/mrlm.ts";

const FOLDER = join(ROOT, "examples/pettingzoo");
/** Interpreter that has PettingZoo, which `npm run test:pettingzoo` installs. */
const python = process.env["MRLM_PEER_PYTHON"] as string;

test("examples/pettingzoo: api_test and seed_test of PettingZoo, rewards since the last turn, agents that end", async () => {
  const served = ["nim", "signals", "consultation", "debate", "math", "relay", "research"].join(",");
  const config = join(FOLDER, "relay.yaml");
  const server = new Mrlm(["serve", "--json", "--environments", served, "--config", config, "--port", "0"]);
  try {
    const { address } = await server.event(({ event }) => event === "listening");
    const printed = execFileSync(python, [join(FOLDER, "test_adapter.py"), address as string], { encoding: "utf8" });
    console.info(printed);
    expect(printed).toContain("the adapter passes");
  } finally {
    server.child.kill("SIGTERM");
    await server.finished;
  }
}, 300_000);
