import { type JsonValue, MrlmError } from "@mrlm/spec";
import { type BlockReader, quote } from "./block-reader.ts";
import type { WrittenCall } from "./formats/format.ts";
import { readPython, readSequence, writePython } from "./python-reader.ts";

/** Names of tools and arguments. Python does not allow "-" and "." in names, tools do. */
const NAME = /[\p{L}_0-9][\p{L}_0-9.-]*/uy;

/** Reads a Python list of calls with named arguments: `[f(a=1), g()]`. */
export function readCallList(reader: BlockReader): readonly WrittenCall[] {
  const calls: WrittenCall[] = [];
  reader.skipSpace();
  const at = reader.at;
  readSequence(reader, "[", "]", 0, () => calls.push(readCall(reader)));
  if (calls.length === 0) reader.fail("The list has no call.", at);
  return calls;
}

function readCall(reader: BlockReader): WrittenCall {
  const name = reader.take(NAME) ?? reader.expected("the name of a tool");
  reader.skipSpace();
  const given = new Map<string, JsonValue>();
  if (!reader.isNext("(")) reader.expected(`"(" after the name ${quote(name)}`);
  readSequence(reader, "(", ")", 0, () => {
    const at = reader.at;
    if (reader.isNext("*")) reader.fail(`An argument of ${quote(name)} is unpacked: write its name and value.`);
    const key = reader.take(NAME);
    reader.skipSpace();
    if (key === undefined || !reader.isNext("=") || reader.isNext("=="))
      reader.fail(`An argument of ${quote(name)} has no name: write name=value.`, at);
    reader.skip("=");
    if (given.has(key)) reader.fail(`The argument ${quote(key)} occurs twice.`, at);
    given.set(key, readPython(reader, 1));
  });
  return { name, arguments: Object.fromEntries(given) };
}

/** Writes calls as a Python list. Throws TOKENIZER_INVALID for a name that such a list cannot have. */
export function writeCallList(calls: readonly WrittenCall[]): string {
  return `[${calls.map(writeCall).join(", ")}]`;
}

function writeCall({ name, arguments: given }: WrittenCall): string {
  const named = Object.entries(given).map(([key, value]) => `${checked(key)}=${writePython(value)}`);
  return `${checked(name)}(${named.join(", ")})`;
}

function checked(name: string): string {
  if (/^[\p{L}_0-9][\p{L}_0-9.-]*$/u.test(name)) return name;
  throw new MrlmError("TOKENIZER_INVALID", `A Python list of calls cannot have the name ${quote(name)}.`, {
    hint: "Names of tools and arguments have letters, digits, underscores, points and hyphens in this format.",
  });
}

/** Returns whether an answer begins as a list of calls, not as another list. `undefined` if more characters decide it. */
export function startsCallList(answer: string): boolean | undefined {
  const compact = answer.replaceAll(/\s+/g, "");
  if (/^\[[\p{L}_0-9.-]+\(/u.test(compact)) return true;
  return /^(?:\[[\p{L}_0-9.-]*)?$/u.test(compact) ? undefined : false;
}
