import { isObject } from "@mrlm/spec";
/** Serialises a transcript with sorted keys and bytes as base64. */
export function serialise(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part instanceof Uint8Array) return `base64:${Buffer.from(part).toString("base64")}`;
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
