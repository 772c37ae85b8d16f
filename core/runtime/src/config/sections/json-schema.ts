import type { JsonObject, JsonValue } from "@mrlm/spec";
import { z } from "zod";

/** Options that somebody else's schema will judge. */
export const pluginOptions: z.ZodType<JsonObject, JsonObject> = z.record(
  z.string(),
  z.json() as z.ZodType<JsonValue, JsonValue>,
);
