import { HttpError } from "@mrlm/kit/http";
import { MrlmError } from "@mrlm/spec";
import type { z } from "zod";

/** Faults of a body that an error names. */
const MAX_FAULTS = 5;
const MAX_FAULT = 200;

/** Returns the body of a request in the form of a schema. Throws status 422 with MESSAGE_INVALID, which names the faults by their paths. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => `${["body", ...path].join(".")}: ${message}`.slice(0, MAX_FAULT));
  throw new HttpError(
    422,
    new MrlmError("MESSAGE_INVALID", `The body of the request is malformed: ${faults.join("; ")}.`, {
      hint: "Correct the body.",
    }),
  );
}
