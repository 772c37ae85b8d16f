import { MrlmError } from "@mrlm/spec";
import type { z } from "zod";

/** Reads a value in the form of a schema. @throws BRIDGE_RESPONSE_INVALID, which names the field @param what begins the message */
export function readShape<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join(".") ?? "";
  const field = path === "" ? "the whole answer" : `\`${path}\``;
  throw new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} has another form: ${field}: ${issue?.message ?? "invalid"}.`);
}
