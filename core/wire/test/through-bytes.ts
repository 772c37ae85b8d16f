import { expect } from "@jest/globals";
import type { Codec } from "../src/index.ts";

/** A message as the other side receives it: a view into a Buffer at an odd offset. */
export function throughBytes<T>(codec: Codec<T>, message: T): T {
  const bytes = codec.encode(message).finish();
  const received = Buffer.concat([Buffer.from([0]), bytes]).subarray(1);
  return codec.decode(received);
}

/** Strict equality of plain data. Both sides are cloned first: fast-check's records have no prototype. */
export function expectSame(received: unknown, expected: unknown): void {
  expect(structuredClone(received)).toStrictEqual(structuredClone(expected));
}
