// Reads the files with cases that the arguments name, and prints, for each, its cases with the rewards of the expected answer, of "no" and of ""; or its error. Those after `--` are read after the others.
import type { Reward } from "@mrlm/kit";
import { readCases } from "../../src/read-cases.ts";
import { casesOptions } from "../../src/options.ts";

const context = {
  scorer: () => {
    throw new Error("A file of this test has its own scorers.");
  },
};
const signal = new AbortController().signal;

async function gradeAnswers(path: string): Promise<object> {
  try {
    const { cases } = await readCases(path, casesOptions.parse({ data: { path } }));
    const rows: object[] = [];
    for (const { messages, expected, place, grade } of cases) {
      const rewards: Reward[] = [];
      for (const answer of [expected ?? "", "no", ""]) rewards.push(await grade(answer, { context, signal }));
      rows.push({ messages, expected, place, rewards });
    }
    return { cases: rows };
  } catch (error) {
    const { code, message, hint } = error as {
      readonly code?: string;
      readonly message: string;
      readonly hint?: string;
    };
    return { error: { code, message, hint } };
  }
}

const [first = "", later = ""] = process.argv.slice(2).join("\n").split("\n--\n");
const graded: object[] = [];
for (const paths of [first, later])
  graded.push(...(await Promise.all(paths.split("\n").filter(Boolean).map(gradeAnswers))));
process.stdout.write(JSON.stringify(graded));
