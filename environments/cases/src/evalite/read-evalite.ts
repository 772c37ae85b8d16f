import { score, type Reward } from "@mrlm/kit";
import { type Case, invalidCase, isScore, scorerFailed } from "../case.ts";
import { loadModule } from "../load-module.ts";
import { expectedText, readPrompt } from "../prompt.ts";
import { type EvaliteScorer, type ScorerInput, SHIM, scoreOf, type Suite, suiteCollector } from "./shim.ts";

/** Reads the cases of all suites of a file of evalite. The code of the file runs in this process; `task` is not called. Rejects with DATA_INVALID, with suite, case and remedy. */
export async function readEvalite(path: string, version: string): Promise<Case[]> {
  const { suites, ...around } = suiteCollector();
  await loadModule(path, version, { sources: { evalite: SHIM }, ...around });
  if (suites.length === 0)
    throw invalidCase(
      path,
      "the file calls evalite() nowhere",
      'Name a file of evalite, which calls `evalite("NAME", { data, task, scorers })` of the package evalite.',
    );
  return (await Promise.all(suites.map((suite) => casesOf(suite, path)))).flat();
}

async function casesOf({ name, data, scorers = [] }: Suite, path: string): Promise<Case[]> {
  const place = `${path}, suite "${name}"`;
  const points = typeof data === "function" ? await resolveData(data, place) : data;
  if (!Array.isArray(points)) throw invalidCase(place, "`data` is no list, and returns none");
  if (scorers.length === 0)
    throw invalidCase(place, "the suite has no scorers, by which every answer is equal", "Give it `scorers`.");
  const chosen = points.some(({ only }) => only === true) ? points.filter(({ only }) => only === true) : points;
  return chosen.map(({ input, expected }, i): Case => {
    const own = `${place}, case ${i + 1}`;
    return {
      ...{ messages: readPrompt(input, own), expected: expectedText(expected), place: own },
      grade: (output) => grade(scorers, { input, output, expected }, own),
    };
  });
}

async function resolveData(data: Exclude<Suite["data"], readonly unknown[]>, place: string) {
  try {
    return await data();
  } catch (error) {
    throw invalidCase(place, `\`data\` throws: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the mean of the scores, which are components by the names of the scorers. A scorer that throws or has no score leaves the answer unscored. */
async function grade(scorers: readonly EvaliteScorer[], given: ScorerInput, place: string): Promise<Reward> {
  const scores: [string, number][] = [];
  for (const scorer of scorers) {
    try {
      const result = scoreOf(await (typeof scorer === "function" ? scorer(given) : scorer.scorer(given)));
      const name = result.name ?? (scorer.name || "score");
      if (!isScore(result.score))
        return scorerFailed(
          `${place}: ${name} returned the score ${String(result.score)}, and a score is a number from 0 to 1.`,
        );
      scores.push([name, result.score]);
    } catch (error) {
      return scorerFailed(
        `${place}: the scorer ${scorer.name} threw: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return score(scores.reduce((sum, [, value]) => sum + value, 0) / scores.length, Object.fromEntries(scores));
}
