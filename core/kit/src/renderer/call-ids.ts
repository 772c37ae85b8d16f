import { createHash } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 9;

/**
 * Returns a source of ids for the calls of one message. Ids have 9 letters and digits, which Mistral's chat template requires, and are unique in the episode.
 * They depend on nothing but the arguments, so that a repeated episode has the same ids.
 *
 * @param earlier ids of the earlier calls of the episode
 * @returns function that returns the given id if it has the right form and is free, else the next free one
 */
export function callIds(earlier: ReadonlySet<string> = new Set()): (written?: string) => string {
  const taken = new Set(earlier);
  let number = taken.size;
  return (written) => {
    let id = written ?? "";
    while (!/^[A-Za-z0-9]{9}$/.test(id) || taken.has(id)) id = idOf(number++);
    taken.add(id);
    return id;
  };
}

function idOf(number: number): string {
  let rest = createHash("sha256").update(String(number)).digest().readBigUInt64BE();
  return Array.from({ length: LENGTH }, () => {
    const digit = ALPHABET[Number(rest % 62n)] as string;
    rest /= 62n;
    return digit;
  }).join("");
}
