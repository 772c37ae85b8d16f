/** Writes JSON in which bytes (of images) are `{ "$bytes": base64 }`. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member instanceof Uint8Array ? { $bytes: Buffer.from(member).toString("base64") } : member,
  );
}

/** Reads the JSON of {@link encodeJson}. */
export function decodeJson(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    const encoded = typeof member === "object" && member !== null ? (member as { $bytes?: unknown }).$bytes : undefined;
    return typeof encoded === "string" ? new Uint8Array(Buffer.from(encoded, "base64")) : member;
  });
}
