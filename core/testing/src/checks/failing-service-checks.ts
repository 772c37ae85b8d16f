import type { Fixture } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { type FailingService, servicesOf, withFailing, withNotes } from "../contract/failing-service.ts";
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
      const services = servicesOf(subject.plugins);
      if (services.length === 0) return [];
      const defects: Defect[] = [];
      for (const service of await usedServices(subject, services)) {
        const defect = await withService(subject, service);
        if (defect !== undefined) defects.push(defect);
      }
      return defects;
    },
  },
];

/** Returns the services that gold fixtures use. */
async function usedServices(subject: Subject, services: readonly FailingService[]): Promise<FailingService[]> {
  const { plugins, wasCreated } = withNotes(subject.plugins);
  const noting = await makeSubject(plugins, subject.definition.id, inProcess, subject.ref().options);
  try {
    for (const fixture of goldOf(subject)) await play(noting, fixture);
  } finally {
    await noting.close();
  }
  return services.filter(wasCreated);
}

/** Plays gold fixtures while a service fails. Their reward may be unscored, or what it was if the service has no part in it. */
async function withService(subject: Subject, service: FailingService): Promise<Defect | undefined> {
  const { plugins, wasCalled } = withFailing(subject.plugins, service);
  const failing = await makeSubject(plugins, subject.definition.id, inProcess, subject.ref().options);
  try {
    for (const fixture of goldOf(subject)) {
      const played = await play(failing, fixture);
      if (played === undefined || played.unscored > 0 || !wasCalled()) continue;
      const lower = Object.entries(played.totals).find(([agent, total]) => total < statedReward(fixture, agent) - 1e-9);
      if (lower !== undefined)
        return new Defect(
          "FAILURE_SCORED",
          `When ${service.kind} ${service.id} fails, agent "${lower[0]}" earns ${lower[1]} in gold fixture "${fixture.name}", not an unscored reward.`,
          { about: `${service.kind}:${service.id}` },
        );
    }
    return undefined;
  } finally {
    await failing.close();
  }
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
