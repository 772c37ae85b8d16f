import { z } from "zod";

/** Option of an environment: place of the answer in a reply, as the schema of a scorer. `boxed`, `gsm8k`, `text`, or the name of a tag. */
export const answerPlace = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,39}$/, "must be boxed, gsm8k, text or the name of a tag")
  .refine((name) => name !== "any", "must name one place");

/** Returns the sentence that asks for an answer in its place. */
export function requestAnswer(place: string): string {
  if (place === "boxed") return "Give your final answer as \\boxed{answer}.";
  if (place === "gsm8k") return "Give your final answer on the last line, after ####.";
  if (place === "text") return "Reply with your final answer and nothing else.";
  return `Give your final answer between <${place}> and </${place}>.`;
}

/** Writes an answer in its place. */
export function placeAnswer(answer: string, place: string): string {
  if (place === "boxed") return `\\boxed{${answer}}`;
  if (place === "gsm8k") return `#### ${answer}`;
  return place === "text" ? answer : `<${place}>${answer}</${place}>`;
}
