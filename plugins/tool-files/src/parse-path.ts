import { Refused } from "./refused.ts";

/** UTF-8 bytes of a name: the limit of the common file systems. */
const NAME_BYTES = 255;

/** Control and format characters, line separators and private-use characters: they hide or reorder what a path shows. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u;

/**
 * Splits a path below the root into names. `.`, empty names and a final slash are ignored; a policy has no other way to leave a directory than `..`, an
 * absolute path or a link, and this function permits neither of the first two.
 * @returns an empty array for the root
 * @throws Refused for any other path, with the reason
 */
export function parsePath(path: string, maxDepth: number): string[] {
  if (!path.isWellFormed()) throw new Refused("The path contains an unpaired surrogate");
  if (path.startsWith("/"))
    throw new Refused("Absolute paths are not supported: a path begins below the root, such as notes/a.txt");
  if (path.includes("\\")) throw new Refused("The path contains a backslash: separate names by /");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    if (name === "..") throw new Refused("The path contains ..: a path begins at the root and does not leave it");
    if (INVISIBLE.test(name)) throw new Refused("The path contains an invisible or control character");
    if (Buffer.byteLength(name) > NAME_BYTES)
      throw new Refused(`A name of the path is longer than ${NAME_BYTES} bytes`);
  }
  if (names.length > maxDepth) throw new Refused(`The path has ${names.length} names; the limit is ${maxDepth}`);
  return names;
}
