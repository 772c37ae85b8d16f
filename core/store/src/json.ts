/**
 * Writes JSON that {@link decodeJson} reads back exactly. Values that JSON does not have are objects with one member: bytes (of images)
 * `{ "$bytes": base64 }`, -0 and numbers that are not finite `{ "$number": text }`. Objects with a member whose name begins with `$` are
 * the member of `{ "$object": ... }`.
 */
export function encodeJson(value: unknown): string {
  return JSON.stringify(isPlain(value) ? value : tagged(value));
}

/** Reads the JSON of {@link encodeJson}. */
export function decodeJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('"$') ? untagged(value) : value;
}

// A first pass instead of a replacer: most values need no tag, and JSON.stringify with a function is several times slower.
function isPlain(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || value === null) return true;
  if (value instanceof Uint8Array) return false;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const name in value)
    if (name.startsWith("$") || !isPlain((value as Record<string, unknown>)[name])) return false;
  return true;
}

function tagged(value: unknown): unknown {
  if (typeof value === "number")
    return isPlain(value) ? value : { $number: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array)
    return { $bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  if (Array.isArray(value)) return value.map(tagged);
  const members = membersOf(value, tagged);
  return Object.keys(value).some((name) => name.startsWith("$")) ? { $object: members } : members;
}

function untagged(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(untagged);
  const { $bytes, $number, $object } = value as { $bytes?: string; $number?: string; $object?: object };
  if ($bytes !== undefined) return new Uint8Array(Buffer.from($bytes, "base64"));
  if ($number !== undefined) return Number($number);
  return membersOf($object ?? value, untagged);
}

function membersOf(value: object, change: (member: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
}
