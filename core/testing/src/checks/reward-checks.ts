import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { playFixture, withSession } from "../contract/play.ts";
import { reaches, rewardRangeOf } from "../contract/reward-range.ts";

/** Checks of the range of rewards. The checks of fixtures find rewards outside of it. */
export const rewardChecks: readonly EnvironmentCheck[] = [
  {
    code: "GOLD_BELOW_TOP",
    name: "a gold fixture earns the top of the range",
    timeoutMs: 120_000,
    // Under some options a range may have a top that no fixture tries to reach: one that is reached is enough.
    run: async (subject) => {
      let best: { readonly name: string; readonly earned: number; readonly top: number } | undefined;
      for (const fixture of subject.fixtures.filter(({ kind }) => kind === "gold")) {
        const [, top] = await rewardRangeOf(subject.definition, subject.ref(fixture.options).options);
        if (!Number.isFinite(top)) continue;
        const { totals } = await withSession(subject, fixture.options, (session) =>
          playFixture(subject, fixture, session),
        );
        const earned = Math.max(...Object.values(totals));
        if (reaches(earned, top)) return;
        if (best === undefined || top - earned < best.top - best.earned) best = { name: fixture.name, earned, top };
      }
      if (best === undefined) return;
      const { name, earned, top } = best;
      throw new Defect("GOLD_BELOW_TOP", `Gold fixture "${name}" earns ${earned}; the top of the range is ${top}.`, {
        about: name,
      });
    },
  },
];
