import {
  type AlgorithmContext,
  type EngineSequence,
  fromChatMessage,
  type JsonValue,
  MrlmError,
  recordedSequences,
  type Renderer,
  scoredAnswer,
  scoredTurns,
  toPair,
} from "@mrlm/kit/learning";
import { episodePairs } from "./episodes.ts";
import { type Example, termsOf } from "./example.ts";
import type { RewardOptions } from "./options.ts";
import { pairMargin, parseStepsRow, rowKind } from "./row.ts";

/** Checks the rows of a file without a tokenizer. Throws DATA_INVALID for a row of unknown form, for rows of several forms, and for a file without an example. */
export function checkRows(values: readonly JsonValue[], path: string): void {
  const kinds = [...new Set(values.map(rowKind))];
  if (kinds.length !== 1)
    throw new MrlmError(
      "DATA_INVALID",
      kinds.length === 0 ? `${path} has no rows.` : `${path} has rows of several forms: ${kinds.join(", ")}.`,
      { hint: "A file has pairs, judged steps or recorded episodes." },
    );
  if (kinds[0] === "episodes") return void episodePairs(values, path);
  for (const [index, value] of values.entries()) {
    const where = `${path}:${index + 1}`;
    if (kinds[0] === "steps") parseStepsRow(value, where);
    else pairMargin(value, where);
  }
}

/** Reads the examples of a file. Rejects with DATA_INVALID, also for an example with more tokens than the model takes: nothing is cut. */
export async function readExamples(
  context: AlgorithmContext,
  path: string,
  options: Pick<RewardOptions, "margin_coefficient">,
): Promise<Example[]> {
  const values = await context.rows(path);
  checkRows(values, path);
  const { models } = await context.engine.describe();
  const longest = models.find(({ model }) => model === context.policy)?.maxPositions ?? Number.POSITIVE_INFINITY;
  return placedExamples(values, path, context.renderer, options).map(({ example, where }) => {
    const length = Math.max(...example.unit.sequences.map(({ tokens }) => tokens.length));
    if (length <= longest) return example;
    throw new MrlmError(
      "DATA_INVALID",
      `${where} has ${length} tokens, with one behind its end; the model takes ${longest}.`,
      { hint: "Shorten or remove the row: a score is that of a whole answer." },
    );
  });
}

interface Placed {
  readonly example: Example;
  readonly where: string;
}

function placedExamples(
  values: readonly JsonValue[],
  path: string,
  renderer: Renderer,
  { margin_coefficient: coefficient }: Pick<RewardOptions, "margin_coefficient">,
): Placed[] {
  const pair = (chosen: readonly EngineSequence[], rejected: readonly EngineSequence[], margin: number): Example => ({
    kind: "pair",
    unit: { sequences: [scoredAnswer(chosen), scoredAnswer(rejected)] },
    margin,
  });
  if (values.some((value) => rowKind(value) === "episodes"))
    return episodePairs(values, path).flatMap(({ chosen, rejected, difference }) => {
      const [one, other] = [recordedSequences(chosen, renderer), recordedSequences(rejected, renderer)];
      if (one.length === 0 || other.length === 0) return [];
      const where = `${path}: an episode of task ${chosen.task}`;
      return [{ example: pair(one, other, coefficient * difference), where }];
    });
  return values.map((value, index): Placed => {
    const where = `${path}:${index + 1}`;
    if (rowKind(value) === "steps") return { example: stepsExample(value, where, renderer), where };
    const { chosen, rejected } = toPair(renderer, value, where);
    return { example: pair(chosen, rejected, pairMargin(value, where)), where };
  });
}

/** Renders a conversation of judged steps. The score of a step stands at the last token of its message, its stop token. */
function stepsExample(value: JsonValue, where: string, renderer: Renderer): Example {
  const { messages, labels } = parseStepsRow(value, where);
  const sequences = scoredTurns(renderer.supervise(messages.map(fromChatMessage)));
  const found = sequences.reduce((sum, { mask }) => mask.reduce((total, scored) => total + scored, sum), 0);
  const example: Example = { kind: "steps", unit: { sequences }, labels };
  if (found === termsOf(example)) return example;
  throw new MrlmError(
    "DATA_INVALID",
    `${where}: the chat template shows ${found} of ${labels.length} assistant messages as turns of their own.`,
    { hint: "Put a message of the user between two of the assistant." },
  );
}
