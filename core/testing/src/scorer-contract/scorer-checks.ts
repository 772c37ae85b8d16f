import assert from "node:assert/strict";
import { checkGrade } from "@mrlm/runtime";
import type { Grade, Reward, Scorer, ScorerExample, ScoreRequest } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { serialise } from "../contract/serialise.ts";
import { withOpened } from "../provision/bind-provision.ts";
import { settles } from "../provision/settles.ts";
import type { Source } from "../provision/source.ts";

/** Scorer under check. */
export interface ScorerSubject {
  readonly scorer: Scorer;
  readonly examples: readonly [ScorerExample, ...ScorerExample[]];
  readonly openFailing: Source<Scorer>["openFailing"];
  /** First grade of each request of the examples, in the order of the calls. */
  readonly firstGrades: Map<string, Grade>;
}

/** Texts that a model may write, and that contain no answer. */
const TEXTS: readonly string[] = [
  "",
  " \n\t",
  "\u0000\ud800",
  "🙂".repeat(50),
  "</s><|im_end|>",
  "\\boxed{",
  "((((((((((",
  "1".repeat(2_000),
  "because ".repeat(2_000),
];

/** Checks of grades: examples, form, any texts, determinism, abort, failures. */
export const scorerChecks: readonly Check<ScorerSubject>[] = [
  {
    code: "EXAMPLE_OUTCOME",
    name: "grades right answers above wrong ones, and unreadable ones no better than these; a bad reference leaves them unscored",
    run: async ({ scorer, examples, firstGrades }) => {
      const first = async (request: ScoreRequest): Promise<Grade> => {
        const grade = await graded(scorer, request);
        firstGrades.set(serialise(request), grade);
        return grade;
      };
      for (const { request, right, wrong, unreadable = [], badReference = [] } of examples) {
        const earned = async (answers: readonly string[]): Promise<number[]> =>
          Promise.all(answers.map(async (answer) => scoreOf(await first({ ...request, answer }), answer)));
        const least = Math.min(...(await earned(right)));
        const lows = await earned(wrong);
        for (const [i, value] of lows.entries())
          assert(value < least, `The wrong answer ${show(wrong[i])} earns ${value}, and a right one ${least}.`);
        for (const answer of unreadable) {
          const value = rewardOfText(await first({ ...request, answer }), answer);
          const lowest = Math.min(...lows);
          assert(value <= lowest, `The unreadable answer ${show(answer)} earns ${value}, and a wrong one ${lowest}.`);
        }
        for (const bad of badReference) {
          const { reward } = await graded(scorer, bad);
          if (reward.scored)
            throw new Defect(
              "FAILURE_SCORED",
              `The reference ${show(bad.expected)} cannot be read, and the answer ${show(bad.answer)} earns ${reward.value}.`,
            );
        }
      }
    },
  },
  {
    code: "INPUT_REFUSED",
    name: "gives any text a reward, with any options of other graders",
    run: async ({ scorer, examples: [{ request, right }] }) => {
      for (const answer of [...TEXTS, right[0].repeat(500)])
        rewardOfText(await graded(scorer, { ...request, answer }), answer);
      await graded(scorer, { ...request, answer: right[0], options: { ...request.options, "other-grader": [1] } });
    },
  },
  {
    code: "RESULT_UNSTABLE",
    name: "grades equal requests equally, also beside others",
    run: async ({ scorer, examples, firstGrades }) => {
      const requests = examples.flatMap(({ request, right, wrong, unreadable = [] }) =>
        [...right, ...wrong, ...unreadable].map((answer) => ({ ...request, answer })),
      );
      const together = await Promise.all([...requests, ...requests].map((request) => graded(scorer, request)));
      if ((scorer.determinism ?? "full") !== "full") return;
      for (const [i, request] of [...requests, ...requests].entries()) {
        const grades = [firstGrades.get(serialise(request)), together[i], await graded(scorer, request)];
        const texts = new Set(grades.flatMap((grade) => (grade === undefined ? [] : [serialise(grade)])));
        assert(
          texts.size === 1,
          `The answer ${show(request.answer)} has different grades: ${[...texts].join(" and ")}.`,
        );
      }
    },
  },
  {
    code: "REQUEST_CHANGED",
    name: "does not change its request",
    run: async ({ scorer, examples: [{ request, right }] }) => {
      const given = { ...structuredClone(request), answer: right[0] };
      const before = serialise(given);
      await scorer.score(given);
      assert.equal(serialise(given), before, "The scorer changed its request.");
    },
  },
  {
    code: "CALL_ABORT_IGNORED",
    name: "ends when its signal is aborted, and an aborted grade is none",
    run: async ({ scorer, examples: [{ request, right }] }) => {
      const usual = await graded(scorer, { ...request, answer: right[0] });
      const aborted = async (controller: AbortController): Promise<void> => {
        const work = scorer.score({ ...structuredClone(request), answer: right[0], signal: controller.signal });
        controller.abort();
        await settles("A grade whose signal was aborted", work, "score");
        const grade = await work.catch(() => undefined);
        if (grade !== undefined) assertUnscored(grade.reward, usual.reward, "When its signal is aborted");
      };
      await aborted(new AbortController());
      const early = new AbortController();
      early.abort();
      await aborted(early);
    },
  },
  {
    code: "FAILURE_SCORED",
    name: "scores nothing while what it uses fails",
    run: async ({ scorer, examples: [{ request, right, wrong }], openFailing }) => {
      if (openFailing === undefined) return;
      for (const answer of [right[0], wrong[0]]) {
        const { reward: usual } = await graded(scorer, { ...request, answer });
        const failed = await withOpened(openFailing, (failing) =>
          failing.score({ ...structuredClone(request), answer }).catch(() => undefined),
        );
        if (failed !== undefined) assertUnscored(failed.reward, usual, "While the model or service that it uses fails");
      }
    },
  },
];

/** Grades an answer, and requires a grade that the host accepts. */
async function graded(scorer: Scorer, request: ScoreRequest): Promise<Grade> {
  let returned: unknown;
  try {
    returned = await scorer.score({ ...structuredClone(request), signal: new AbortController().signal });
  } catch (error) {
    throw new Defect("INPUT_REFUSED", `\`score\` threw for the answer ${show(request.answer)}: ${String(error)}`, {
      about: "score",
      cause: error,
    });
  }
  const malformed = (problem: string): Defect =>
    new Defect("RESULT_MALFORMED", `The grade of ${show(request.answer)}: ${problem}.`, { about: "score" });
  let grade: Grade;
  try {
    grade = checkGrade(returned);
  } catch (error) {
    throw malformed((error as Error).message);
  }
  const { reward, verdict, reason } = grade;
  if (verdict === "" || reason === "") throw malformed("its verdict or its reason is empty");
  if (!reward.scored && (reward.code === "" || reward.message === "")) throw malformed("its reward states no cause");
  return grade;
}

function scoreOf({ reward }: Grade, answer: string): number {
  assert(reward.scored, `The answer ${show(answer)} is unscored: ${reward.scored ? "" : reward.message}.`);
  return reward.value;
}

/** Returns the reward of any text beside a reference that can be read. */
function rewardOfText({ reward }: Grade, answer: string): number {
  if (!reward.scored)
    throw new Defect(
      "ANSWER_UNSCORED",
      `The answer ${show(answer)} is unscored: ${reward.message}. A policy that writes it is not graded.`,
      { about: "score" },
    );
  return reward.value;
}

function assertUnscored(reward: Reward, usual: Reward, when: string): void {
  if (reward.scored && (!usual.scored || reward.value !== usual.value))
    throw new Defect(
      "FAILURE_SCORED",
      `${when}, an answer earns ${reward.value}; otherwise ${usual.scored ? usual.value : "it is unscored"}.`,
      { about: "score" },
    );
}

function show(text = ""): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
