// Prints, for each case of a file, its prompt, an answer, and the reward of that answer by cases@1. With `mixed`, three of four answers are not the expected one.
import { messageText } from "@mrlm/kit";
import { casesOptions } from "../../../environments/cases/src/options.ts";
import { readCases } from "../../../environments/cases/src/read-cases.ts";

const [, , path = "", kind] = process.argv;
const { cases } = await readCases(path, casesOptions.parse({ data: { path } }));
const signal = new AbortController().signal;
const context = {
  scorer: () => {
    throw new Error("The files have scorers of their own.");
  },
};

function answerOf(expected: string, index: number): string {
  const answers = [expected, `It is ${expected}`, "billing", expected.replace(/\d+|o/, "0")];
  return kind === "mixed" ? (answers[index % answers.length] as string) : expected;
}

const graded = [];
for (const [i, { messages, expected = "", grade }] of cases.entries()) {
  const answer = answerOf(expected, i);
  const prompt = messages.map(messageText).join("\n");
  graded.push({ prompt, answer, reward: await grade(answer, { context, signal }) });
}
process.stdout.write(JSON.stringify(graded));
