import { textMessage } from "@mrlm/kit";
import { type AlgorithmContext, type JsonValue, type Message, MrlmError, type Renderer, type SupervisedSequence } from "@mrlm/spec";
import { z } from "zod";
import type { Pair } from "./pair.ts";

const message = z.object({ role: z.enum(["system", "user", "assistant", "tool"]), content: z.string() });
const answer = z.union([z.string(), z.array(message).length(1)]);
const row = z.object({ prompt: z.union([z.string(), z.array(message).min(1)]), chosen: answer, rejected: answer });

/** Pairs of a JSONL file of {prompt, chosen, rejected}, as text or messages. Each row is checked before training begins. */
export async function pairsFromFile(context: AlgorithmContext, path: string): Promise<Pair[]> {
  const { models } = await context.engine.describe();
  const longest = models.find(({ model }) => model === context.policy)?.maxPositions ?? Number.POSITIVE_INFINITY;
  return (await context.rows(path)).map((value, index) => {
    const where = `${path}:${index + 1}`;
    const pair = toPair(context.renderer, value, where);
    const length = Math.max(...[...pair.chosen, ...pair.rejected].map(({ tokens }) => tokens.length));
    if (length <= longest) return pair;
    throw new MrlmError("DATA_INVALID", `${where} has ${length} tokens; the model takes ${longest}.`, { hint: "Shorten or remove the row: which end to cut is not for a trainer to decide." });
  });
}

function toPair(renderer: Renderer, value: JsonValue, where: string): Pair {
  const parsed = row.safeParse(value);
  if (!parsed.success) throw new MrlmError("DATA_INVALID", `${where} is not {prompt, chosen, rejected}: ${z.prettifyError(parsed.error)}`);
  const { prompt, chosen, rejected } = parsed.data;
  const asked = typeof prompt === "string" ? [textMessage("user", prompt)] : prompt.map(({ role, content }) => textMessage(role, content));
  const [one, other] = [answerTo(renderer, asked, chosen), answerTo(renderer, asked, rejected)];
  const start = promptLength(one);
  if (start !== promptLength(other) || !one.tokens.subarray(0, start).every((token, t) => token === other.tokens[t])) {
    throw new MrlmError("DATA_INVALID", `${where}: the prompt has other tokens before the chosen answer than before the rejected one.`, {
      hint: "The chat template must render a prompt the same way whatever is answered to it.",
    });
  }
  return { chosen: [one], rejected: [other] };
}

/** The conversation up to the answer, whose tokens alone are compared: what was said earlier is part of the prompt. */
function answerTo(renderer: Renderer, asked: readonly Message[], said: z.output<typeof answer>): SupervisedSequence {
  const text = typeof said === "string" ? said : (said[0]?.content ?? "");
  const { tokens, mask } = renderer.supervise([...asked, textMessage("assistant", text)]).at(-1) as SupervisedSequence;
  const end = mask.lastIndexOf(1);
  const start = mask.lastIndexOf(0, end) + 1;
  return { tokens, mask: mask.map((chosen, t) => (t >= start ? chosen : 0)) };
}

function promptLength({ mask }: SupervisedSequence): number {
  return mask.indexOf(1);
}
