import type { JsonObject, JsonValue } from "@mrlm/spec";
import { z } from "zod";

/** Options that the schema of a plugin checks. */
export const pluginOptions: z.ZodType<JsonObject, JsonObject> = z.record(
  z.string(),
  z.json() as z.ZodType<JsonValue, JsonValue>,
);
