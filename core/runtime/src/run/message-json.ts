/** Encodes a value as JSON, with the bytes of images as `{ "$bytes": base64 }`. */
export function encodeBytes(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member instanceof Uint8Array ? { $bytes: Buffer.from(member).toString("base64") } : member,
  );
}
