import { afterAll, describe, expect, test } from "@jest/globals";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import { duelEnvironment } from "@mrlm/testing";
import { checkPlayers, LocalHost, parseConfig, PluginHost, prepareRun } from "@mrlm/runtime";
import type { MrlmError } from "@mrlm/spec";
import { assignPlayers } from "../src/rollouts/assign-players.ts";
import { reinforce } from "./support/reinforce.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const directory = temporaryDirectory();
mkdirSync(join(directory, "rival"));
for (const name of ["config.json", "tokenizer.json"]) writeFileSync(join(directory, "rival", name), "{}");

const plugins = () =>
  PluginHost.of([definePlugin({ name: "test", environments: [duelEnvironment()], algorithms: [reinforce] })]);
const load = (players: string, rest = "model: {random: {config: {}}}") =>
  parseConfig(`${rest}\nenvironments:\n  - id: duel\n${players}\nstages: [{algorithm: reinforce, steps: 1}]\n`, {
    path: join(directory, "run.yaml"),
  });
const refusedAtLoad = (players: string, rest?: string): string => {
  try {
    load(players, rest);
  } catch (error) {
    return (error as MrlmError).message.replaceAll(`${directory}/`, "");
  }
  throw new Error("it was accepted");
};
/** Returns the messages of the check before any process starts, and of the preparation of the run. */
const refused = async (players: string): Promise<string[]> => {
  const source = await plugins();
  const loaded = load(players);
  const host = new LocalHost({ source });
  const works = [checkPlayers(loaded, source), prepareRun(loaded, { host, algorithms: source })];
  const messages = works.map((work) =>
    work.then(
      () => "accepted",
      (error: MrlmError) => error.message.replaceAll(`${directory}/`, ""),
    ),
  );
  return Promise.all(messages);
};

describe("policies and players in a configuration", () => {
  test("model is short for a policy of the name policy, and a text under a role names a policy", () => {
    const short = load("    players: {first: policy}");
    const long = load("    players: {first: {policy: policy}}", "policies: {policy: {random: {config: {}}}}");
    expect(long.config).toEqual(short.config);
    expect(load("    max_turns: 3", "policies: {alice: {random: {config: {}}}}").config.policies).toHaveProperty(
      "alice",
    );
  });

  test.each([
    [
      "    players: {first: polcy}",
      'run.yaml:4:22: environments[0].players.first: there is no policy "polcy". Did you mean "policy"?',
    ],
    [
      "    players: {first: {policy: random}}",
      'run.yaml:4:31: environments[0].players.first.policy: there is no policy "random". Policies: policy.',
    ],
    [
      "    players: {first: {policy: policy, model: m}}",
      "run.yaml:4:22: environments[0].players.first: give exactly one of `policy`, `model`, `scripted` and `endpoint`",
    ],
    ["    players: {first: {}}", "run.yaml:4:22: environments[0].players.first: give exactly one of"],
    [
      "    players: {first: {model: m, options: {}}}",
      "run.yaml:4:33: environments[0].players.first.options has no effect",
    ],
    [
      "    players: {first: {endpoint: 'http://h/v1'}}",
      "run.yaml:4:22: environments[0].players.first: `endpoint` needs `model`",
    ],
    [
      "    players: {first: {endpoint: 'http://u:secret@h/v1', model: m}}",
      "run.yaml:4:33: environments[0].players.first.endpoint: must be an http or https URL without a user, a password",
    ],
    [
      "    players: {first: {endpoint: h, model: m}}",
      "environments[0].players.first.endpoint: must be an http or https URL",
    ],
    [
      "    players: {first: {endpoint: 'http://h/v1', model: m, api_key_env: hf_secret}}",
      "run.yaml:4:71: environments[0].players.first.api_key_env: must be the name of an environment variable in capitals, not the key itself",
    ],
    [
      "    players: {first: {scripted: fixed, api_key_env: KEY}}",
      "players.first.api_key_env has no effect: only an endpoint",
    ],
    [
      "    players: {first: {scriptd: fixed}}",
      'run.yaml:4:23: unknown key "scriptd" in environments[0].players.first. Did you mean "scripted"?',
    ],
    ["    players: {__proto__: policy}", 'run.yaml:4:15: environments[0].players: "__proto__" is no role'],
    [
      "    players: {first: {policy: policy, past: {keep: 8}}, second: {policy: policy, past: {keep: 9}}}",
      "the players of one policy share its copies: `every` and `keep` are 20 and 8 at another player",
    ],
    [
      "    players: {first: {policy: policy, past: {every: 5}}, second: {policy: policy, past: {every: 6}}}",
      "the players of one policy share its copies: `every` and `keep` are 5 and 8 at another player",
    ],
    ["    sides: shuffle", "run.yaml:4:5: environments[0].sides has no effect"],
    ["    sides: shufle", "did you mean shuffle?"],
  ])("%s is refused at its place", (players, message) => {
    expect(refusedAtLoad(players)).toContain(message);
    expect(refusedAtLoad(players)).not.toContain("secret");
  });

  test.each([
    [
      "policies: {a: {path: m}, b: {path: m}}",
      'environments[0]: this run trains several policies ("a", "b"): state under `players` which one plays each role',
    ],
    ["policies: {a: {path: m}, b: {path: m}}", "name the one that learns, `learners: { a: { algorithm: reinforce } }`"],
    ["policies: {}", "run.yaml:1:1: policies: a run trains at least one model"],
    ["model: {path: m}\npolicies: {a: {path: m}}", "run.yaml:1:1: model is short for `policies: { policy: ... }`"],
    [
      "policies: {critic: {path: m}}",
      'run.yaml:1:12: the name "critic" of a policy is the name of another model of a run',
    ],
    [
      "policies: {frozen-0: {path: m}}",
      'run.yaml:1:12: the name "frozen-0" of a policy is the name of another model of a run',
    ],
    ["policies: {a/b: {path: m}}", 'run.yaml:1:12: the name "a/b" of a policy must be letters'],
    ["policies: {a: {}}", "run.yaml:1:12: policies.a: give one of `path`"],
    ["policies: {a: {pth: m}}", 'unknown key "pth" in policies.a. Did you mean "path"?'],
    ["seed: 1", "model: is missing"],
  ])("%s is refused at its place", (rest, message) => {
    expect(refusedAtLoad("", rest)).toContain(message);
  });
});

describe("players that the environment or the disk lacks", () => {
  test.each([
    [
      "an unknown role",
      "    players: {frst: policy}",
      'run.yaml:4:15: environments[0].players: duel@1 has no role "frst". Did you mean "first"?',
    ],
    [
      "a role of an object's own members",
      "    players: {constructor: policy}",
      'run.yaml:4:15: environments[0].players: duel@1 has no role "constructor". Its roles: first, second.',
    ],
    ["a script of that kind", "    players: {first: {scripted: toString}}", 'duel@1 has no scripted policy "toString"'],
    ["an unknown scripted policy", "    players: {first: {scripted: fxed}}", 'Did you mean "fixed"?'],
    [
      "an unknown directory",
      "    players: {first: {model: rivl}}",
      'run.yaml:4:30: There is no model directory rivl. Did you mean "rival"?',
    ],
    [
      "no policy at all",
      "    players: {first: {scripted: fixed}, second: {model: rival}}",
      "no role of duel@1 is played by a policy",
    ],
  ])("%s is refused at its place with the nearest name, before anything starts", async (_what, players, message) => {
    const [before, prepared] = await refused(players);
    expect(before).toContain(message);
    expect(before).toMatch(/^run\.yaml:4:\d+: /);
    expect(prepared).toMatch(/^run\.yaml:4:\d+: /);
  });

  test("wrong options of a scripted policy are refused at their place", async () => {
    const [, prepared] = await refused("    players: {first: {scripted: fixed, options: {txt: b}}}");
    expect(prepared).toContain("run.yaml:4:49: fixed has the option text");
  });

  test("a script of an environment that only a server has cannot act: its plugin must be installed here", async () => {
    const source = await PluginHost.of([definePlugin({ name: "none", environments: [], algorithms: [] })]);
    const loaded = load("    players: {second: {scripted: fixed}}\nserver: {address: 'localhost:1'}");
    await expect(checkPlayers(loaded, source)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("install the environment's plugin in this project too"),
    });
    const host = new LocalHost({ source: await plugins() });
    const { scripted: _, ...remote } = { describe: host.describe.bind(host), scripted: undefined };
    const prepared = prepareRun(loaded, { host: remote as unknown as LocalHost, algorithms: source });
    await expect(prepared).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("run.yaml:4:34: "),
    });
  });

  test("prepared environments have the players of every role, frozen models under the ids of the engine", async () => {
    const source = await plugins();
    const prepared = await prepareRun(
      load("    players: {second: {model: rival}}\n  - id: duel\n    players: {first: {scripted: fixed}}"),
      { host: new LocalHost({ source }), algorithms: source },
    );
    expect(prepared.environments.map(({ players }) => players)).toEqual([
      {
        first: { kind: "policy", policy: "policy" },
        second: { kind: "model", name: join(directory, "rival"), model: "frozen-0" },
      },
      {
        first: { kind: "scripted", name: "fixed", isOutside: false, open: expect.any(Function) },
        second: { kind: "policy", policy: "policy" },
      },
    ]);
    expect(prepared.evaluation.map(({ players }) => players)).toEqual([
      expect.objectContaining({ second: expect.objectContaining({ model: "frozen-0" }) }),
      expect.anything(),
    ]);
  });
});

test("sides: the assignment of a group follows from the run's seed and the group alone", () => {
  const players = {
    first: { kind: "policy", policy: "policy" },
    second: { kind: "model", name: "rival", model: "frozen-0" },
  } as const;
  const beginners = (sides: "fixed" | "shuffle", runSeed: number): string =>
    Array.from({ length: 16 }, (_, i) =>
      assignPlayers({ players, sides }, ["first", "second"], {
        runSeed,
        group: `0/grpo/1/0/duel@1/duel@1/train/${i}`,
        pastVersions: () => [],
      }),
    )
      .map(({ first }) => (first?.kind === "policy" ? "p" : "m"))
      .join("");
  expect(beginners("fixed", 0)).toBe("p".repeat(16));
  expect([beginners("shuffle", 0), beginners("shuffle", 1)]).toEqual(["mpmmmmmppmmppppm", "ppmppmmmpppppmmp"]);
});
