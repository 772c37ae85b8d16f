import type { Fixture } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { FailingServices, type PluginService, servicesOf } from "../contract/failing-service.ts";
import { playFixture, type Transcript, withSession } from "../contract/play.ts";
import { makeSubject, type Subject } from "../contract/subject.ts";
import { inProcess } from "../transports.ts";

/** Gold fixtures of different options that are played with each service. */
const FIXTURES = 4;

/** Checks of services that fail: their rewards are unscored, never zero. */
export const failingServiceChecks: readonly EnvironmentCheck[] = [
  {
    code: "FAILURE_SCORED",
    quick: false,
    name: "rewards are unscored when a scorer, judge, sandbox or tool fails",
    timeoutMs: 60_000,
    run: async (subject) => {
      if (servicesOf(subject.plugins).length === 0) return [];
      const services = new FailingServices(subject.plugins);
      const own = await makeSubject(services.plugins, subject.definition.id, inProcess, subject.ref().options);
      try {
        const defects = new Map<string, Defect>();
        for (const fixture of goldOf(own)) {
          services.failing = undefined;
          await play(own, fixture);
          for (const service of services.takeCalled()) {
            const key = `${service.kind}:${service.id}`;
            services.failing = service;
            const defect = paidDespite(service, fixture, await play(own, fixture));
            if (defect !== undefined && !defects.has(key)) defects.set(key, defect);
          }
        }
        return [...defects.values()];
      } finally {
        await own.close();
      }
    },
  },
];

/** Returns the defect of a fixture that earns less than its reward while a service fails. It may be unscored, or what it was if the service has no part in it. */
function paidDespite(
  { kind, id }: PluginService,
  fixture: Fixture,
  played: Transcript | undefined,
): Defect | undefined {
  if (played === undefined || played.unscored > 0) return undefined;
  const lower = Object.entries(played.totals).find(([agent, total]) => total < statedReward(fixture, agent) - 1e-9);
  if (lower === undefined) return undefined;
  const [agent, total] = lower;
  return new Defect(
    "FAILURE_SCORED",
    `When ${kind} ${id} fails, agent "${agent}" earns ${total} in gold fixture "${fixture.name}", not an unscored reward.`,
    { about: `${kind}:${id}` },
  );
}

/** Plays a fixture; `undefined` if the episode failed, which training does not learn from either, or if its policy needs what the service gives. */
async function play(subject: Subject, fixture: Fixture): Promise<Transcript | undefined> {
  try {
    return await withSession(subject, fixture.options, (session) => playFixture(subject, fixture, session));
  } catch {
    return undefined;
  }
}

/** Returns the first gold fixtures, of different options first. */
function goldOf({ fixtures }: Subject): Fixture[] {
  const gold = fixtures.filter(({ kind }) => kind === "gold");
  const byOptions = new Map(gold.map((fixture) => [JSON.stringify(fixture.options), fixture]));
  return [...byOptions.values()].slice(0, FIXTURES);
}

function statedReward({ reward = 0 }: Fixture, agent: string): number {
  return typeof reward === "number" ? reward : (reward[agent] ?? Number.NEGATIVE_INFINITY);
}
