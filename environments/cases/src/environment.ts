import {
  divide,
  type JsonObject,
  type JsonValue,
  listedTasks,
  MrlmError,
  type Message,
  messageText,
  placeAnswer,
  singleTurn,
} from "@mrlm/kit";
import type { Case } from "./case.ts";
import { fixtures } from "./fixtures.ts";
import { type CasesOptions, casesOptions } from "./options.ts";
import { determinismOf, listOf, readCases } from "./read-cases.ts";

/** Time of a scorer, which may ask a model, in milliseconds. */
const STEP_MS = 120_000;

/** Public part of a task. */
interface Shown extends JsonObject {
  readonly messages: JsonValue;
}

/** Private part of a task: the case in its list. */
export interface Hidden extends JsonObject {
  readonly list: string;
  readonly index: number;
}

/** `cases@1`. */
export const cases = singleTurn<CasesOptions, Shown, Hidden>({
  id: "cases@1",
  description: "Cases of evalite, promptfoo and JSONL files, one answer each, scored as these tools score it.",
  determinism: determinismOf,
  options: casesOptions,
  // Scorers and metrics of a file are components under their own names.
  rewardComponents: ["solved"],
  deadlines: { stepMs: STEP_MS },
  requires: (_, { scorer }) =>
    scorer === undefined ? [] : [{ id: `scorer:${scorer}`, asker: "the option `scorer`" } as const],
  async tasks(context, options) {
    const { key, cases } = await readCases(context.dataPath(options.data.path), options);
    const rows = cases.map(({ messages }, index) => ({
      question: messages.map((message) => `${message.role}: ${messageText(message)}`).join("\n"),
      messages,
      index,
    }));
    return listedTasks({ ...divide(rows, options.data.eval_share, options.task_seed) }, ({ messages, index }) => ({
      public: { messages: messages as unknown as JsonValue },
      private: { list: key, index },
    }));
  },
  prompt: ({ messages }) => messages as unknown as readonly Message[],
  score: (answer, task, { context, signal }) => caseOf(task.private).grade(answer, { context, signal }),
  answer({ private: hidden }, { scorer, schema }) {
    const { expected, place } = caseOf(hidden);
    if (expected !== undefined) return scorer === undefined ? expected : placeAnswer(expected, schema);
    throw new MrlmError("DEMONSTRATION_REFUSED", `${place} has no expected answer.`, {
      hint: "Add it, or train without demonstrations: without the stage `sft`.",
    });
  },
  fixtures,
});

function caseOf({ list, index }: Hidden): Case {
  return listOf(list).cases[index] as Case;
}
