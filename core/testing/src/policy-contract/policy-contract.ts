import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outsidePlayer } from "@mrlm/runtime";
import {
  type JsonObject,
  type Observation,
  type OpenPolicy,
  type PolicyEpisode,
  type PolicySource,
  roleOf,
} from "@mrlm/spec";
import { serialise } from "../contract/serialise.ts";
import { never } from "../contract/play.ts";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { assertReleased, heldResources } from "../toolset-contract/held-resources.ts";
import { settles } from "../toolset-contract/toolset-subject.ts";

/** Options of the contract suite. */
export interface PolicyContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  /** Makes the source. */
  readonly make: () => PolicySource<never> | Promise<PolicySource<never>>;
  /** Options of the player. */
  readonly options?: JsonObject;
  /** Observations of one episode, in the order of the agent's turns. */
  readonly observations: readonly Omit<Observation, "agent">[];
  /** Episodes that are open at once; default 8. */
  readonly episodes?: number;
  /** Time limit of each test in milliseconds; default 60,000. */
  readonly timeoutMs?: number;
  /** Functions that register tests; default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/** Policies under test, as a host opens them. */
interface PolicySubject {
  readonly source: PolicySource<unknown>;
  readonly observations: PolicyContractOptions["observations"];
  readonly episodes: number;
  /** Opens a policy as a host does. */
  open(seed: number, agent?: string): Promise<OpenPolicy>;
  /** Opens a policy without the guard of the host, which ends late turns itself. */
  openBare(seed: number): Promise<OpenPolicy>;
}

interface PolicyCheck {
  readonly name: string;
  /** Whether the check applies to sources that repeat their episodes only. */
  readonly needsDeterminism?: boolean;
  run(subject: PolicySubject): Promise<void>;
}

/**
 * Registers a test for each property of a source of policies: options, valid actions, repeated episodes, separate episodes, abort, close. Policies are called as a host calls them. The tests share one source, and the last one closes it: afterwards no process or handle remains.
 */
export function policyContract(options: PolicyContractOptions): void {
  const { name, make, options: given = {}, observations, episodes = 8, timeoutMs = 60_000 } = options;
  const registry = registryOf(options.registry);
  const start = async () => {
    const directory = await mkdtemp(join(tmpdir(), "mrlm-policy-"));
    const before = await heldResources(directory);
    const source = (await make()) as PolicySource<unknown>;
    return { source, directory, before, parsed: await parse(source, given) };
  };
  let made: ReturnType<typeof start> | undefined;
  const parts = (): ReturnType<typeof start> => (made ??= start());
  registry.describe(`the contract of ${name}`, () => {
    for (const check of checks) {
      const run = async (): Promise<void> => {
        const { source, parsed } = await parts();
        if (check.needsDeterminism === true && (source.determinism ?? "full") !== "full") return;
        const player = outsidePlayer("tested@1", source, parsed);
        const sampling = { temperature: 1, maxTokens: 64 };
        const episode = (seed: number, agent: string): PolicyEpisode => ({
          ...{ environment: "any@1", task: "train/0", role: roleOf(agent), agent },
          ...{ seed, sampling, signal: never },
        });
        await check.run({
          source,
          observations,
          episodes,
          open: (seed, agent = "player") => player.open(episode(seed, agent)),
          openBare: async (seed) => source.open(episode(seed, "player"), parsed),
        });
      };
      registry.test(check.name, run, timeoutMs);
    }
    const close = async (): Promise<void> => {
      const { source, directory, before } = await parts();
      try {
        await source.close?.();
        await assertReleased(
          before,
          { directory, releaseMs: Math.min(10_000, timeoutMs / 4) },
          "The source was closed",
        );
      } finally {
        await rm(directory, { recursive: true });
      }
    };
    registry.test("closing it leaves no process or handle", close, timeoutMs);
  });
}

/** Plays an episode to its end, and returns its actions as text. */
async function play({ observations, open }: PolicySubject, seed: number, agent = "player"): Promise<string> {
  const policy = await open(seed, agent);
  try {
    const actions: unknown[] = [];
    for (const observation of observations)
      actions.push((await policy.act({ ...observation, agent }, { signal: never })).message);
    return serialise(actions);
  } finally {
    await policy.close?.();
  }
}

const checks: readonly PolicyCheck[] = [
  {
    name: "refuses options that it does not have",
    run: async ({ source }) => {
      const { options } = source;
      if (options === undefined) return;
      const result = await options["~standard"].validate({ "no-option": true });
      assert(result.issues !== undefined, "The schema accepts any option: a misspelt one would have no effect.");
    },
  },
  {
    name: "acts in each turn as the agent that is asked, in any role",
    run: async (subject) => {
      for (const agent of ["player", "browser#2"]) await play(subject, 1, agent);
    },
  },
  {
    name: "repeats an episode with the same seed",
    needsDeterminism: true,
    run: async (subject) => {
      assert.equal(
        await play(subject, 7),
        await play(subject, 7),
        "Two episodes with the same seed have other actions.",
      );
    },
  },
  {
    name: "keeps an episode apart from all others",
    needsDeterminism: true,
    run: async (subject) => {
      const seeds = Array.from({ length: subject.episodes }, (_, i) => i);
      const together = await Promise.all(seeds.map((seed) => play(subject, seed)));
      for (const seed of seeds)
        assert.equal(await play(subject, seed), together[seed], `Episode ${seed} differs when others run beside it.`);
    },
  },
  {
    name: "ends an aborted turn",
    run: async ({ observations, openBare }) => {
      const policy = await openBare(5);
      const abort = new AbortController();
      const turn = policy.act({ messages: [], ...observations[0], agent: "player" }, { signal: abort.signal });
      abort.abort(new Error("aborted by the test"));
      await settles("An aborted turn", turn);
      await policy.close?.();
    },
  },
  {
    name: "closes an episode that had no turn",
    run: async ({ open }) => {
      await (await open(6)).close?.();
    },
  },
];

async function parse({ options }: PolicySource<unknown>, given: JsonObject): Promise<unknown> {
  const result = await options?.["~standard"].validate(given);
  assert(result?.issues === undefined, `The options are refused: ${JSON.stringify(result?.issues)}`);
  return result?.value ?? {};
}
