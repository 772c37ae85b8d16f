import { count, decimal } from "../../console/numbers.ts";
import { shownPath } from "../../console/shown-path.ts";
import type { CheatSearch, ExpectedAnswers, InspectedCases } from "./inspected-cases.ts";
import { gainToShow } from "./refusal.ts";
import type { Difference, Verdict } from "./verdict.ts";

/** Everything that the report of an improvement states. */
export interface Improvement {
  readonly file: string;
  readonly model: string;
  readonly directory: string;
  readonly train: string;
  readonly measured: string;
  readonly cases: InspectedCases;
  readonly search: CheatSearch;
  readonly expected: ExpectedAnswers | undefined;
  /** Mean scores on the held-out cases. */
  readonly before: number | null;
  readonly after: number | null;
  readonly fixed: number | undefined;
  readonly verdict: Verdict;
}

/** Returns what is known before the training, a line each. */
export function inspectionLines(
  { train, held, distinct }: InspectedCases,
  search: CheatSearch,
  expected?: ExpectedAnswers,
): string[] {
  return [
    `cases: ${count(train, "case")} to train on, ${held} held out`,
    `power: ${distinct} held-out cases${distinct === held ? "" : " with different inputs"} show a gain of ${Math.round(100 * gainToShow(distinct))} points at 80 % power, or a smaller one that is in most cases`,
    ...search.notes.map((note) => `cheats: ${note}`),
    ...(expected === undefined
      ? ["demonstrations: none, since no training case has an expected answer; the scorers alone train"]
      : [
          `demonstrations: the expected answers earn ${decimal(expected.reward)}${expected.below === 0 ? "" : `; ${expected.below} earn less than 1: check these cases`}`,
          ...(expected.missing === 0
            ? []
            : [`${count(expected.missing, "training case")} without an expected answer: the scorers alone train`]),
          `fixed answer: ${JSON.stringify(expected.fixed)} in every case earns most`,
        ]),
  ];
}

/** Returns the verdict in a sentence. */
export function verdictLine({ verdict: { isGain, reason, overBefore, cut } }: Pick<Improvement, "verdict">): string {
  const text = isGain
    ? `gain shown: ${differenceText(overBefore)}`
    : `no gain shown: ${differenceText(overBefore)}. ${reason}`;
  return cut.before + cut.after === 0 ? text : `${text}${isGain ? "." : ""} ${cutText(cut)}`;
}

function cutText({ before, after }: Verdict["cut"]): string {
  return `The limit of tokens cut ${count(before, "answer")} before, ${after} after.`;
}

/** Returns the command that serves the trained model. */
export function serveLine({ train }: Pick<Improvement, "train">): string {
  return `npx mrlm serve --model ${shownPath(train)}`;
}

/** Writes the report as Markdown. */
export function improvementReport(improvement: Improvement): string {
  const { file, model, directory, measured, train, cases, search, expected, before, after, fixed, verdict } =
    improvement;
  const rows = [
    ["before", decimal(before), ""],
    ...(fixed === undefined ? [] : [["one fixed answer", decimal(fixed), ""]]),
    ["after", decimal(after), ""],
    ["after - before", signed(verdict.overBefore.difference), range(verdict.overBefore)],
    ...(verdict.overFixed === undefined
      ? []
      : [["after - fixed answer", signed(verdict.overFixed.difference), range(verdict.overFixed)]]),
  ];
  return `# ${verdict.isGain ? "Gain shown" : "No gain shown"}

${model}, trained on ${file}. ${verdict.reason} ${cutText(verdict.cut)}

| mean score of ${cases.held} held-out cases | | 95 % |
| --- | --- | --- |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

${inspectionLines(cases, search, expected)
  .map((line) => `- ${line}`)
  .join("\n")}

\`\`\`sh
${serveLine(improvement)}   # an API in the form of OpenAI's
npx mrlm show ${shownPath(measured)} --worst   # answers to held-out cases
npx mrlm train --config ${shownPath(`${directory}/train.yaml`)}   # train again, with other settings
npx mrlm ui ${shownPath(train)}
\`\`\`
`;
}

function differenceText(difference: Difference): string {
  return `${signed(difference.difference)} on held-out cases (95 %: ${range(difference)})`;
}

function signed(value: number): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(3)}`;
}

function range({ interval }: Difference): string {
  return interval === null ? "the same in every case" : `${signed(interval[0])} to ${signed(interval[1])}`;
}
