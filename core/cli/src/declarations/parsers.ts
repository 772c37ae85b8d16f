import type { Option } from "@commander-js/extra-typings";
import { isObject, type JsonObject, MrlmError } from "@mrlm/spec";

/** Option of a parser. Commander calls the parser of an option as its method, so that a fault names the flag. */
type Declared = Pick<Option, "long">;

/** Further bounds of a whole number. */
export interface Bounds {
  readonly most?: number;
  /** Text of both bounds in messages; default: "of LEAST or more". */
  readonly range?: string;
  readonly hint?: string;
}

/** Returns the parser of a whole number of `least` to 2^53 - 1. It throws USAGE. */
export function parseWholeNumber(least = 0, bounds: Bounds = {}) {
  return function (this: Declared, text: string): number {
    return readWholeNumber(text, longOf(this), least, bounds);
  };
}

/** Returns the parser of a finite number of 0 or more, or of any sign with `mayBeNegative`. It throws USAGE. */
export function parseRealNumber({ mayBeNegative = false }: { readonly mayBeNegative?: boolean } = {}) {
  return function (this: Declared, text: string): number {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number) || (number < 0 && !mayBeNegative))
      throw new MrlmError("USAGE", `${longOf(this)} ${text} is not a number${mayBeNegative ? "" : " of 0 or more"}.`);
    return number;
  };
}

/** Returns the parser of the number of a port. It throws USAGE. */
export function parsePort() {
  return function (this: Declared, text: string): number {
    return readPort(text, longOf(this));
  };
}

/** Returns the parser of a JSON object. It throws USAGE. */
export function parseJson() {
  return function (this: Declared, text: string): JsonObject {
    return readJsonObject(text, longOf(this));
  };
}

/** Collects the values of a flag that may be given several times. */
export function collectTexts(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Parses comma-separated names. */
export function parseNames(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim());
}

/** Parses a whole number of `least` or more. Throws USAGE with its place: the name of a flag. */
export function readWholeNumber(text: string, place: string, least = 0, { most, range, hint }: Bounds = {}): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > (most ?? number))
    throw new MrlmError("USAGE", `${place} ${text} is not a whole number ${range ?? `of ${least} or more`}.`, { hint });
  if (!Number.isSafeInteger(number)) throw new MrlmError("USAGE", `${place} ${text} is 2^53 or more.`);
  return number;
}

/** Parses the number of a port. Throws USAGE with its place: the name of a flag. */
export function readPort(text: string, place: string): number {
  const port = Number(text);
  if (text.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new MrlmError("USAGE", `${place} ${text} is not a port: give a number from 0 to 65535.`);
  return port;
}

/** Parses a JSON object. Throws USAGE with its place: the name of a flag, or a column of a row. */
export function readJsonObject(text: string, place: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MrlmError("USAGE", `${place} is not JSON: ${(cause as Error).message}`, {
      hint: `For example ${place} '{"difficulty_range": 3}'.`,
      cause,
    });
  }
  if (isObject(value)) return value as JsonObject;
  throw new MrlmError("USAGE", `${place} is not a JSON object: ${text}`, {
    hint: `For example ${place} '{"difficulty_range": 3}'.`,
  });
}

function longOf({ long = "" }: Declared): string {
  return long;
}
