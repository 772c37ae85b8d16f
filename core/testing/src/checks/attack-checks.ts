import { attackEnvironment } from "../attack/attack.ts";
import { describeAttack, describeSearch, fixOf } from "../attack/describe-attack.ts";
import { type AttackOptions, EPISODES } from "../check/attack-options.ts";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { servicesOf } from "../contract/failing-service.ts";
import type { Subject } from "../contract/subject.ts";

/** Time for the search, and for each of its episodes on average, in milliseconds. */
const SEARCH_MS = 60_000;
const EPISODE_MS = 200;
/** Time in which a search that has been stopped ends, in milliseconds. */
const STOP_MS = 30_000;

/** Returns the check that searches a program which earns without solving. */
export function attackChecks({
  episodes: given,
  isThorough = false,
  minutes,
  learnt = {},
}: AttackOptions): EnvironmentCheck[] {
  const most = given ?? (isThorough ? EPISODES.thorough : EPISODES.check);
  const timeMs = Math.min(SEARCH_MS + most * EPISODE_MS, (minutes ?? Number.POSITIVE_INFINITY) * 60_000);
  return [
    {
      code: "STRATEGY_PAYS",
      name: "programs that solve nothing earn little",
      quick: false,
      timeoutMs: timeMs + STOP_MS,
      run: async (subject, note) => {
        const end = performance.now() + timeMs;
        const isPlain = given === undefined && !isThorough;
        const episodes = isPlain && isServed(subject) ? EPISODES.suite : most;
        const result = await attackEnvironment(subject, {
          episodes,
          isLate: () => performance.now() > end,
          learnt: learnt[subject.definition.id] ?? [],
        });
        if ("skipped" in result) return void note?.(`no program was searched: ${result.skipped}`);
        if (result.attacks.length > 0)
          return result.attacks.map(
            (attack) => new Defect("STRATEGY_PAYS", describeAttack(result, attack), { fix: fixOf(attack) }),
          );
        const more = isPlain ? `; \`--attack\` plays ${EPISODES.thorough}` : "";
        note?.(`${describeSearch(result, result.spent, result.fixture)}${more}`);
        return undefined;
      },
    },
  ];
}

/** Whether other plugins serve the environment with a sandbox or tools: an episode then takes ten times as long. */
function isServed({ plugins, definition }: Subject): boolean {
  const others = plugins.filter(({ environments = [] }) => !environments.includes(definition));
  return servicesOf(others).some(({ kind }) => kind === "sandbox" || kind === "tool");
}
