import { expect } from "@jest/globals";
import type { MessageType } from "../src/grpc/serialise.ts";

/** Returns a message as the peer receives it: a view into a Buffer at an odd offset. */
export function throughBytes<T>(type: MessageType<T>, message: T): T {
  const bytes = type.encode(message).finish();
  const received = Buffer.concat([Buffer.from([0]), bytes]).subarray(1);
  return type.decode(received);
}

/** Compares plain data strictly. Both values are cloned first, because fast-check's records have no prototype. */
export function expectSame(received: unknown, expected: unknown): void {
  expect(structuredClone(received)).toStrictEqual(structuredClone(expected));
}
