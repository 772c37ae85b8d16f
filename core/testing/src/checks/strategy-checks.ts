import { type Fixture, roleOf } from "@mrlm/spec";
import { entryOf } from "../check/codes.ts";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { playFixture, withSession } from "../contract/play.ts";
import { playStrategy, type StrategyOutcome } from "../contract/play-strategy.ts";
import { STRATEGIES } from "../contract/strategies.ts";
import type { Subject } from "../contract/subject.ts";

/** Tasks that each strategy plays. */
const TASKS = 100;
/** Time for one strategy in one role, in milliseconds. */
const BUDGET_MS = 2_000;
/** Part of the way from no answer to a right one that is more than an error of rounding. */
const ROUNDING = 1e-9;

/** Checks of strategies that solve nothing: none earns a large part of the reward of a right answer. */
export const strategyChecks: readonly EnvironmentCheck[] = [
  {
    code: "STRATEGY_PAYS",
    name: "strategies that solve nothing earn little",
    quick: false,
    timeoutMs: 120_000,
    run: async (subject) => {
      const fixture = subject.fixtures.find(({ kind }) => kind === "gold");
      if (fixture === undefined) return [];
      const gold = await totalsOf(subject, fixture);
      const nop = await nopTotals(subject, fixture);
      const best = new Map<string, Judged>();
      for (const [role, top] of gold) {
        const floor = nop.get(role) ?? 0;
        if (top <= floor) continue;
        for (const strategy of STRATEGIES) {
          const play = async (roles: ReadonlySet<string>): Promise<Judged> => {
            const limits = { role, roles, gold: top, count: TASKS, budgetMs: BUDGET_MS };
            return { ...(await playStrategy(subject, fixture, strategy, limits)), gold: top, nop: floor };
          };
          let judged = await play(new Set([role]));
          // Gold knows the answer: beside it, an agent that shares its reward earns by doing nothing. It does not where all agents do.
          if (gold.size > 1 && isPaid(judged)) {
            const all = await play(new Set(gold.keys()));
            if (excess(all) < excess(judged)) judged = all;
          }
          if (judged.played === 0) continue;
          const before = best.get(strategy.code);
          if (before === undefined || excess(judged) > excess(before)) best.set(strategy.code, judged);
        }
      }
      return defectsOf([...best.values()]);
    },
  },
];

/** Outcome of a strategy, with the totals of gold and of no answer in the same role. */
interface Judged extends StrategyOutcome {
  readonly gold: number;
  readonly nop: number;
}

/** Part of the way from no answer to a right one that the mean reaches. */
function excess({ mean, gold, nop }: Judged): number {
  return (mean - nop) / (gold - nop);
}

function isPaid(outcome: Judged): boolean {
  return excess(outcome) > ROUNDING || outcome.share >= 0.2;
}

function defectsOf(outcomes: readonly Judged[]): Defect[] {
  const paying = outcomes.filter((outcome) => excess(outcome) >= 0.5 || outcome.share >= 0.2);
  if (paying.length > 0) return [new Defect("STRATEGY_PAYS", `${paying.map(describe).join(".\n")}.`)];
  return outcomes
    .filter((outcome) => excess(outcome) > ROUNDING)
    .map(
      (outcome) =>
        new Defect(outcome.strategy.code, `${describe(outcome)}.`, { fix: entryOf(outcome.strategy.code).fix }),
    );
}

function describe({ strategy, played, mean, share, gold, nop }: Judged): string {
  const name = `${strategy.name.charAt(0).toUpperCase()}${strategy.name.slice(1)}`;
  const often = share > 0 ? `, and as much as gold in ${(100 * share).toFixed(0)} %` : "";
  return `${name}: mean reward ${mean.toFixed(3)} in ${played} episodes${often}; gold earns ${gold}, no answer ${nop}`;
}

/** Returns the best total of each role that the fixture's own policy plays. */
async function totalsOf(subject: Subject, fixture: Fixture): Promise<Map<string, number>> {
  const { totals, acted } = await withSession(subject, fixture.options, (session) =>
    playFixture(subject, fixture, session),
  );
  const byRole = new Map<string, number>();
  for (const agent of acted) {
    const role = roleOf(agent);
    if (fixture.players?.[role] !== undefined) continue;
    byRole.set(role, Math.max(byRole.get(role) ?? Number.NEGATIVE_INFINITY, totals[agent] ?? 0));
  }
  return byRole;
}

/** Returns the totals of the fixture that does nothing, under the options of the gold one if there is such a fixture. */
async function nopTotals(subject: Subject, gold: Fixture): Promise<Map<string, number>> {
  const all = subject.fixtures.filter(({ kind }) => kind === "nop");
  const same = all.find(({ options }) => JSON.stringify(options) === JSON.stringify(gold.options));
  const fixture = same ?? all[0];
  return fixture === undefined ? new Map() : totalsOf(subject, fixture);
}
