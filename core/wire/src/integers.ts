import { invalid } from "./invalid.ts";

/** A whole number within ±2^53 as the 64-bit integer of the wire. */
export function toInt64(value: number, name: string): bigint {
  if (!Number.isSafeInteger(value)) throw invalid(`${name} is ${value}, which is not a whole number within ±2^53`);
  return BigInt(value);
}

/** A 64-bit integer of the wire as a number; one beyond ±2^53 is refused rather than rounded. */
export function fromInt64(value: bigint, name: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalid(`${name} is ${value}, which lies outside ±2^53`);
  return number;
}

/** Passes a finite number on. */
export function finite(value: number, name: string): number {
  if (!Number.isFinite(value)) throw invalid(`${name} is ${value}, which is not a finite number`);
  return value;
}
