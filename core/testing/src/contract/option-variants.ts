import { isObject, type JsonObject, type JsonValue } from "@mrlm/spec";

/** Values of every JSON type, for options that should refuse some of them. */
const ANY: readonly JsonValue[] = [null, true, -1, 0, 1, 0.5, 1e9, "", "no-such-value", [], ["no-such-value"], {}];

/** Returns values around the limits that a JSON Schema states: some that it accepts, and some that it refuses. */
export function variantsOf(schema: JsonObject): JsonValue[] {
  const values = [...ANY, ...listed(schema["enum"]), ...listed(schema["examples"])];
  for (const key of ["default", "const"]) if (schema[key] !== undefined) values.push(schema[key]);
  for (const key of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) {
    const limit = schema[key];
    if (typeof limit === "number" && Math.abs(limit) < 1e12) values.push(limit - 1, limit, limit + 1);
  }
  for (const key of ["minLength", "maxLength"]) {
    const length = schema[key];
    if (typeof length === "number" && length < 1_000) values.push("a".repeat(length), "a".repeat(length + 1));
  }
  for (const key of ["anyOf", "oneOf"])
    for (const part of listed(schema[key])) if (isObject(part)) values.push(...variantsOf(part));
  if (isObject(schema["items"])) for (const item of variantsOf(schema["items"]).slice(0, 20)) values.push([item]);
  const properties = schema["properties"];
  if (isObject(properties))
    for (const [name, part] of Object.entries(properties))
      if (isObject(part)) for (const value of variantsOf(part)) values.push({ [name]: value });
  return unique(values);
}

function listed(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function unique(values: readonly JsonValue[]): JsonValue[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
