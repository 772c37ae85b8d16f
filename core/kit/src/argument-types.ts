import { isObject, type JsonObject, type JsonValue } from "@mrlm/spec";

/** Types that a JSON schema allows. An integer has the type "integer", any other number the type "number". */
interface Allowed {
  /** Types that the schema names. */
  readonly named: ReadonlySet<string>;
  /** True if the schema also allows types that it does not name. */
  readonly isOpen: boolean;
}

/** Greatest number of schemas that are followed from one to the next. Longer chains would exceed the stack. */
const MAX_DEPTH = 256;

const ANYTHING: Allowed = { named: new Set(), isOpen: true };

/**
 * Returns the types that the schema of a tool names for an argument, in `type`, `enum` and `const`, behind `$ref`, `allOf`, `anyOf`, `oneOf` and `if`, of the
 * argument and of the arguments as a whole. Empty if the schema names none.
 */
export function argumentTypes(parameters: JsonObject, key: string): ReadonlySet<string> {
  const values = allowedBy(parameters, ownTypes);
  const members = allowedBy(parameters, (schema, of) => [
    ...schemasOf(schema, key).map(values),
    // They apply beside one of the other arguments.
    ...objects(schema["dependentSchemas"], schema["dependencies"]).map((other) => ({ ...of(other), isOpen: true })),
  ]);
  return members(parameters).named;
}

/**
 * Returns a function that combines what the parts of a schema allow.
 *
 * @param own returns what a schema allows by itself; its second argument is the combination for a part of it
 */
function allowedBy(
  root: JsonObject,
  own: (schema: JsonObject, of: (schema: JsonValue) => Allowed) => readonly Allowed[],
): (schema: JsonValue) => Allowed {
  /** Results. A schema that refers to itself finds `undefined`: it allows what its other parts do. */
  const known = new Map<JsonObject, Allowed | undefined>();
  const find = (schema: JsonValue | undefined, depth: number): Allowed | undefined => {
    if (schema === false) return either([]);
    if (!isObject(schema) || depth > MAX_DEPTH) return ANYTHING;
    if (known.has(schema)) return known.get(schema);
    known.set(schema, undefined);
    const all = (others: readonly (JsonValue | undefined)[]): Allowed[] =>
      others.map((other) => find(other, depth + 1)).filter((found) => found !== undefined);
    const { $ref: ref, allOf, if: condition, then, else: otherwise } = schema;
    const found = both([
      ...own(schema, (other) => find(other, depth + 1) ?? ANYTHING),
      ...all(typeof ref === "string" ? [resolve(root, ref)] : []),
      ...all(Array.isArray(allOf) ? allOf : []),
      ...[schema["anyOf"], schema["oneOf"]].filter(Array.isArray).map((members) => either(all(members))),
      ...(condition === undefined ? [] : [either([both(all([condition, then])), ...all([otherwise])])]),
    ]);
    known.set(schema, found);
    return found;
  };
  return (schema) => find(schema, 0) ?? ANYTHING;
}

/** Returns what all of them allow. */
function both(all: readonly Allowed[]): Allowed {
  return all.reduce(
    (one, other) => ({
      named: new Set(
        [...one.named, ...other.named].filter(
          (type) => (one.isOpen || one.named.has(type)) && (other.isOpen || other.named.has(type)),
        ),
      ),
      isOpen: one.isOpen && other.isOpen,
    }),
    ANYTHING,
  );
}

/** Returns what at least one of them allows. */
function either(all: readonly Allowed[]): Allowed {
  return { named: new Set(all.flatMap(({ named }) => [...named])), isOpen: all.some(({ isOpen }) => isOpen) };
}

function ownTypes({ type, nullable, enum: values, const: only }: JsonObject): Allowed[] {
  const types = [type ?? []].flat().flatMap((name) => (name === "number" ? ["integer", "number"] : [String(name)]));
  return [
    types.length === 0 ? undefined : [...types, ...(nullable === true ? ["null"] : [])],
    Array.isArray(values) ? values.map(typeOf) : undefined,
    only === undefined ? undefined : [typeOf(only)],
  ].flatMap((named) => (named === undefined ? [] : [{ named: new Set(named), isOpen: false }]));
}

/** Returns the schemas that an object's schema has for a member. */
function schemasOf(schema: JsonObject, key: string): JsonValue[] {
  const { properties, patternProperties, additionalProperties } = schema;
  const found = [
    ...(isObject(properties) && Object.hasOwn(properties, key) ? [properties[key] as JsonValue] : []),
    ...(isObject(patternProperties) ? Object.entries(patternProperties) : []).flatMap(([pattern, other]) =>
      isMatch(pattern, key) ? [other] : [],
    ),
  ];
  return found.length === 0 && isObject(additionalProperties) ? [additionalProperties] : found;
}

function isMatch(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern, "u").test(key);
  } catch {
    return false;
  }
}

/** Returns the schema that a reference names; `undefined` if there is none in this document. */
function resolve(root: JsonObject, reference: string): JsonValue | undefined {
  const [id, fragment = ""] = reference.split("#", 2) as [string, string?];
  const base = id === "" ? root : find(root, (schema) => schema["$id"] === id);
  if (fragment === "" || base === undefined) return base;
  if (!fragment.startsWith("/"))
    return find(base, (schema) => schema["$anchor"] === fragment || schema["$id"] === `#${fragment}`);
  let found: JsonValue | undefined = base;
  for (const part of decoded(fragment).slice(1).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, name)
        ? (found as JsonObject)[name]
        : undefined;
  }
  return found;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Returns the first object in a value that a test accepts. */
function find(root: JsonValue, isWanted: (schema: JsonObject) => boolean): JsonObject | undefined {
  const open: JsonValue[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (isObject(value) && isWanted(value)) return value;
    if (typeof value === "object" && value !== null) for (const member of Object.values(value)) open.push(member);
  }
  return undefined;
}

function objects(...values: readonly (JsonValue | undefined)[]): JsonObject[] {
  return values.filter(isObject).flatMap((members) => Object.values(members).filter(isObject));
}

/** Returns the type of a value in a JSON schema. */
export function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
