import { createHash, timingSafeEqual } from "node:crypto";

/** Makes a check of the header `authorization`: whether it is `Bearer TOKEN`. */
export function bearerCheck(token: string): (header: string | undefined) => boolean {
  const expected = digest(`Bearer ${token}`);
  return (header) => timingSafeEqual(digest(header ?? ""), expected);
}

/** Hashes a text. Digests have equal lengths, so the time of a comparison depends on neither the token nor its length. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
