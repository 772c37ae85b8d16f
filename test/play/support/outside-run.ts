import { grpo } from "@mrlm/grpo";
import openai from "@mrlm/policy-openai";
import type { IterationReport, JsonObject, Trajectory } from "@mrlm/spec";
import { type BigramOutcome, duelEnvironment, recordingEngine, trainBigram } from "@mrlm/testing";
import { ENDPOINT_FAULTS, type EndpointFault, FaultyEndpoint } from "./faulty-endpoint.ts";
import { trainedTokens } from "./provenance.ts";

const STEPS = 2;
const EPISODES = 8;

/** Environment variable with the key of the endpoint. */
export const KEY_NAME = "MRLM_TEST_ENDPOINT_KEY";

type EndpointRun = BigramOutcome & ReturnType<typeof trainedTokens>;

/** Trains against an endpoint, and closes it. */
async function trained(endpoint: FaultyEndpoint, options: JsonObject): Promise<EndpointRun> {
  try {
    return await trainAgainstEndpoint(endpoint.url, options);
  } finally {
    await endpoint.close();
  }
}

/** Trains two batches against an endpoint, which plays the second role. */
async function trainAgainstEndpoint(url: string, options: JsonObject): Promise<EndpointRun> {
  const key: JsonObject = process.env[KEY_NAME] === undefined ? {} : { api_key_env: KEY_NAME };
  const second = { endpoint: url, model: "rival", ...key, options };
  const { engine, asked } = recordingEngine();
  const outcome = await trainBigram({
    algorithms: [grpo],
    environments: [duelEnvironment()],
    plugins: [openai],
    stages: [{ algorithm: "grpo", steps: STEPS, prompts_per_step: 2, group_size: 4, learning_rate: 0.2 }],
    config: { environments: [{ id: "duel", players: { second } }], checkpoint: { every: 0 } },
    engine,
  });
  return { ...outcome, ...trainedTokens(asked, "policy") };
}

/** Trains against an endpoint without faults. */
export function trainWithoutFaults(): Promise<BigramOutcome> {
  return trainAgainst({ apply: () => undefined }, 0);
}

/** Trains against an endpoint of which a share of the answers is faulty, without retries. */
export async function trainAgainst(fault: EndpointFault, share: number): Promise<BigramOutcome> {
  const endpoint = new FaultyEndpoint(fault, 1, share);
  await endpoint.start();
  return await trained(endpoint, { max_retries: 0 });
}

/** Trains against an endpoint with a fault, and returns the faults of the run. */
export async function faultsOfRun(name: string, seed: number, clean: BigramOutcome): Promise<string[]> {
  const fault = ENDPOINT_FAULTS[name];
  if (fault === undefined) throw new Error(`There is no fault "${name}".`);
  const endpoint = new FaultyEndpoint(fault, seed, name === "killed" ? 0.1 : 0.25);
  await endpoint.start();
  const isPermanent = fault.code !== undefined;
  const options = { max_retries: isPermanent ? 0 : 10, deadline_ms: name === "no answer" ? 100 : 10_000 };
  const outcome = await trained(endpoint, options);
  const episodes = outcome.played.flat().flatMap(({ trajectories }) => trajectories);
  const failed = episodes.filter(({ error }) => error !== undefined);
  const codes = [...new Set(failed.map(({ error }) => error?.code))].join(", ");
  const counted = outcome.reports.reduce((sum, { metrics }) => sum + Number(metrics["episodes/failed"] ?? 0), 0);
  const scored = outcome.reports.reduce((sum, { metrics }) => sum + countOf(metrics["reward/mean"]), 0);
  // A killed server resets the connections of other requests too, and a busy machine delays them beyond the deadline.
  const hasExpected = ["killed", "no answer"].includes(name)
    ? failed.length >= endpoint.faults
    : failed.length === endpoint.faults;
  const checks: readonly (readonly [isRight: boolean, what: string])[] = [
    [endpoint.faults > 0, "no request had the fault"],
    [episodes.length === STEPS * EPISODES, `${episodes.length} episodes were played`],
    [!isPermanent || hasExpected, `${failed.length} episodes failed, and ${endpoint.faults} requests had the fault`],
    [isPermanent || failed.length === 0, `${failed.length} episodes failed, and all retries succeed`],
    [codes === "" || codes === fault.code, `episodes failed with ${codes} and not with ${fault.code}`],
    [counted === failed.length, `${counted} failed episodes are counted, of ${failed.length}`],
    [scored === episodes.length - failed.length, `${scored} rewards are counted, of ${episodes.length}`],
    [episodes.every(hasOwnRewards), "an episode has the rewards of another outcome"],
    [outcome.foreign === 0, `${outcome.foreign} tokens were trained that the policy has not sampled`],
    [isPermanent || outcome.weights.equals(clean.weights), "the weights differ from those of a run without faults"],
  ];
  return checks.flatMap(([isRight, what]) => (isRight ? [] : [`${name}, seed ${seed}: ${what}`]));
}

function countOf(metric: IterationReport["metrics"][string] | undefined): number {
  return typeof metric === "object" ? metric.count : 0;
}

/** Whether the rewards are those of the letters that the policy wrote against "b"; none after a failure. */
function hasOwnRewards({ agents, error }: Trajectory): boolean {
  const { first, second } = agents;
  if (error !== undefined) return (first?.total.scored === true ? first.total.value : 0) === 0 && second === undefined;
  if (first?.total.scored !== true || second?.total.scored !== true) return false;
  return first.total.value >= 0 && first.total.value === -second.total.value && second.segments.length === 0;
}
