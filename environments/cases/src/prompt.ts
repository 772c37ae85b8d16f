import { type Message, textMessage } from "@mrlm/kit";
import { z } from "zod";
import { invalidCase } from "./case.ts";

const chat = z
  .array(
    z.object({
      role: z.enum(["system", "user", "assistant"]),
      content: z.union([
        z.string(),
        z
          .array(z.object({ type: z.literal("text"), text: z.string() }))
          .transform((parts) => parts.map(({ text }) => text).join("")),
      ]),
    }),
  )
  .min(1)
  .refine((messages) => messages.at(-1)?.role === "user", "ends with a message that is not the user's");

/** Returns the messages of an input: a text, or messages as APIs of models have them. Throws DATA_INVALID, with the place. */
export function readPrompt(input: unknown, place: string): readonly Message[] {
  if (typeof input === "string" && input.trim() !== "") return [textMessage("user", input)];
  const parsed = chat.safeParse(input);
  if (parsed.success) return parsed.data.map(({ role, content }) => textMessage(role, content));
  throw invalidCase(
    place,
    "the input is neither a text nor a list of messages that ends with one of the user",
    "Write the prompt as the model receives it: a text, or [{ role, content }] with the roles system, user and assistant.",
  );
}

/** Returns the text of an expected answer; JSON of what is no text. */
export function expectedText(expected: unknown): string | undefined {
  if (expected === undefined || expected === null) return undefined;
  return typeof expected === "string" ? expected : JSON.stringify(expected);
}
