import { invalid } from "./invalid.ts";

/** Converts a whole number within ±2^53 to a 64-bit integer of the wire. */
export function toInt64(value: number, name: string): bigint {
  if (!Number.isSafeInteger(value)) throw invalid(`${name} is ${value}, which is not a whole number within ±2^53`);
  return BigInt(value);
}

/** Converts a 64-bit integer of the wire to a number. Throws MESSAGE_INVALID beyond ±2^53, where it would be rounded. */
export function fromInt64(value: bigint, name: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalid(`${name} is ${value}, which lies outside ±2^53`);
  return number;
}
