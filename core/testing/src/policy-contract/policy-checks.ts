import assert from "node:assert/strict";
import type { Observation, OpenPolicy, PolicySource } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { serialise } from "../contract/serialise.ts";
import { never } from "../contract/play.ts";
import { settles } from "../provision/settles.ts";

/** Policies under check, as a host opens them. */
export interface PolicySubject {
  readonly source: PolicySource<unknown>;
  readonly observations: readonly Omit<Observation, "agent">[];
  /** Episodes that are open at once. */
  readonly episodes: number;
  /** Opens a policy as a host does. */
  open(seed: number, agent?: string): Promise<OpenPolicy>;
  /** Opens a policy without the guard of the host, which ends late turns itself. */
  openBare(seed: number): Promise<OpenPolicy>;
}

/** Plays an episode to its end, and returns its actions as text. */
async function play({ observations, open }: PolicySubject, seed: number, agent = "player"): Promise<string> {
  const policy = await open(seed, agent);
  try {
    const actions: unknown[] = [];
    for (const observation of observations)
      actions.push((await policy.act({ ...observation, agent }, { signal: never })).message);
    return serialise(actions);
  } catch (error) {
    throw new Defect("POLICY_ACTION_INVALID", `As agent "${agent}": ${(error as Error).message}`, {
      about: "act",
      cause: error,
    });
  } finally {
    await policy.close?.();
  }
}

/** Checks of policies: options, actions, repeated and separate episodes, abort. */
export const policyChecks: readonly Check<PolicySubject>[] = [
  {
    code: "POLICY_OPTIONS_ACCEPTED",
    name: "refuses options that it does not have",
    run: async ({ source }) => {
      const { options } = source;
      if (options === undefined) return;
      const result = await options["~standard"].validate({ "no-option": true });
      assert(result.issues !== undefined, "The schema accepts any option: a misspelt one would have no effect.");
    },
  },
  {
    code: "POLICY_ACTION_INVALID",
    name: "acts in each turn as the agent that is asked, in any role",
    run: async (subject) => {
      for (const agent of ["player", "browser#2"]) await play(subject, 1, agent);
    },
  },
  {
    code: "RESULT_UNSTABLE",
    name: "repeats an episode with the same seed",
    run: async (subject) => {
      if ((subject.source.determinism ?? "full") !== "full") return;
      if ((await play(subject, 7)) !== (await play(subject, 7)))
        throw new Defect("RESULT_UNSTABLE", "Two episodes with the same seed have different actions.");
    },
  },
  {
    code: "CALLS_INTERFERE",
    name: "keeps an episode apart from all others",
    run: async (subject) => {
      if ((subject.source.determinism ?? "full") !== "full") return;
      const seeds = Array.from({ length: subject.episodes }, (_, i) => i);
      const together = await Promise.all(seeds.map((seed) => play(subject, seed)));
      // Otherwise this is the finding of the check before.
      if ((await play(subject, 7)) !== (await play(subject, 7))) return;
      for (const seed of seeds)
        assert.equal(await play(subject, seed), together[seed], `Episode ${seed} differs when others run beside it.`);
    },
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "ends an aborted turn",
    run: async ({ observations, openBare }) => {
      const policy = await openBare(1_000_003);
      const abort = new AbortController();
      const turn = policy.act({ messages: [], ...observations[0], agent: "player" }, { signal: abort.signal });
      abort.abort(new Error("aborted by the test"));
      await settles("An aborted turn", turn, "act");
      await policy.close?.();
    },
  },
  {
    code: "POLICY_ACTION_INVALID",
    name: "closes an episode that had no turn",
    run: async ({ open }) => {
      await (await open(6)).close?.();
    },
  },
];
