import type { JsonObject, JsonValue } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";
import type { Form } from "./instruction.ts";
import type { Item } from "./items.ts";

type Field = keyof Item;

export type Json = {
  /** Keys of the fields, in the order of the schema. */
  readonly fields: { readonly [name in Field]?: string };
  /** Key below which all fields but the name stand. */
  readonly group?: string;
  /** Key of the list in an object; without it the list is the whole answer. */
  readonly list?: string;
  /** Keys of the number of items and of the sum of their prices. */
  readonly count?: string;
  readonly total?: string;
  /** Whether prices are texts such as `12 coins`. */
  readonly isText: boolean;
};

const KEYS: Readonly<Record<Field, readonly string[]>> = {
  name: ["name", "title", "label"],
  price: ["price", "cost", "coins"],
  color: ["color", "paint"],
  city: ["city", "origin", "madeIn"],
};

/** JSON by a schema. All its values follow from the items, so that one value alone is right. */
export const json: Form<Json> = {
  draw(random, level) {
    const others = random.shuffle(["price", "color", "city"] as const).slice(0, Math.min(3, 1 + Math.floor(level / 2)));
    const fields = Object.fromEntries((["name", ...others] as const).map((field) => [field, random.pick(KEYS[field])]));
    const isObject = random.integer(0, 1) === 1;
    return {
      fields,
      isText: random.integer(0, 1) === 1,
      ...(level >= 4 ? { group: random.pick(["details", "about"]) } : {}),
      ...(isObject ? { list: random.pick(["items", "goods", "results"]) } : {}),
      ...(isObject && level >= 2 ? { count: random.pick(["count", "number"]) } : {}),
      ...(isObject && level >= 3 ? { total: random.pick(["total", "sum"]) } : {}),
    };
  },
  describe: (value) => `Answer with JSON by this schema, and nothing else:\n${JSON.stringify(schemaOf(value))}`,
  holds(value, { text, items }) {
    const given = parsed(text);
    return given !== undefined && isEqual(given, valueOf(value, items));
  },
  write: (value, items) => JSON.stringify(valueOf(value, items), null, 2).split("\n"),
};

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Returns the JSON Schema of an answer. */
export function schemaOf({ fields, group, list, count, total, isText }: Json): JsonObject {
  const types: Readonly<Record<Field, JsonObject>> = {
    name: { type: "string", description: "Name of the item" },
    price: isText
      ? { type: "string", description: "Price of the item", pattern: "^[0-9]+ coins$" }
      : { type: "integer", description: "Price of the item in coins" },
    color: { type: "string", description: "Color of the item" },
    city: { type: "string", description: "City in which the item was made" },
  };
  const item = object(keyed(fields, group, (field) => types[field], object));
  const all = { type: "array", items: item };
  if (list === undefined) return all;
  return object({
    [list]: all,
    ...(count === undefined ? {} : { [count]: { type: "integer", description: "Number of these items" } }),
    ...(total === undefined ? {} : { [total]: { type: "integer", description: "Sum of their prices in coins" } }),
  });
}

/** Returns the one right answer. */
function valueOf({ fields, group, list, count, total, isText }: Json, items: readonly Item[]): JsonValue {
  const all = items.map((item) =>
    keyed(
      fields,
      group,
      (field) => (field === "price" && isText ? `${item.price} coins` : item[field]),
      (inner) => inner,
    ),
  );
  if (list === undefined) return all;
  return {
    [list]: all,
    ...(count === undefined ? {} : { [count]: items.length }),
    ...(total === undefined ? {} : { [total]: items.reduce((sum, { price }) => sum + price, 0) }),
  };
}

/** Returns an object with one entry for each field, all but the name below `group` if there is one. */
function keyed(
  fields: Json["fields"],
  group: string | undefined,
  valueIn: (field: Field) => JsonValue,
  nest: (inner: JsonObject) => JsonObject,
): JsonObject {
  const entries = (Object.entries(fields) as [Field, string][]).map(([field, key]) => [key, valueIn(field)] as const);
  const [name, ...others] = entries;
  if (group === undefined) return Object.fromEntries(entries);
  return Object.fromEntries([name as (typeof entries)[0], [group, nest(Object.fromEntries(others))]]);
}

function object(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** Whether two JSON values are equal, the order of keys apart. */
function isEqual(one: JsonValue, other: JsonValue): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [one, other] as [JsonObject, JsonObject];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key] as JsonValue, right[key] as JsonValue))
  );
}
