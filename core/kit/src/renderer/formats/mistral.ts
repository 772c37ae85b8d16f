import { defined } from "@mrlm/spec";
import { createHash } from "node:crypto";
import { type BlockReader, quote } from "../block-reader.ts";
import { readElements, spacedJson } from "../json-reader.ts";
import { checkName, readArguments, readNamedCall } from "../named-call.ts";
import { type ToolFormat, type WrittenCall, expectEnd } from "./format.ts";

const [CALLS, CALL_ID, ARGS] = ["[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"];

/**
 * Mistral: `[TOOL_CALLS]` and a JSON array of calls (tokenizers v2 to v7), or `[TOOL_CALLS]NAME[ARGS]{...}` for each call (from v11, which also writes
 * `[CALL_ID]` and an id after the name). Calls end with the message.
 */
export const mistral: ToolFormat = {
  openings: [
    { marker: CALLS, end: undefined },
    { marker: CALL_ID, end: CALL_ID, fault: `${quote(CALL_ID)} stands outside a call.`, isToken: true },
    { marker: ARGS, end: ARGS, fault: `${quote(ARGS)} stands outside a call.`, isToken: true },
  ],
  inner: [CALL_ID, ARGS],
  read: (reader) => {
    const calls: WrittenCall[] = [];
    reader.expect(CALLS, "at the start of the calls");
    reader.skipSpace();
    if (isArray(reader)) {
      const at = reader.at;
      readElements(reader, 0, () => calls.push(readNamedCall(reader)));
      if (calls.length === 0) reader.fail("The list has no call.", at);
    } else {
      do calls.push(readCompactCall(reader));
      while (reader.skip(CALLS));
    }
    expectEnd(reader);
    return calls;
  },
  write: (calls) => calls.map((call) => `${CALLS}${call.name}${ARGS}${spacedJson(call.arguments)}`).join(""),
  templateId: ({ id }) =>
    /^[A-Za-z0-9]{9}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9),
};

function isArray(reader: BlockReader): boolean {
  return reader.isNext("[") && ![CALLS, CALL_ID, ARGS].some((marker) => reader.isNext(marker));
}

function readCompactCall(reader: BlockReader): WrittenCall {
  reader.skipSpace();
  const at = reader.at;
  const name = reader.takeBefore(CALL_ID, ARGS) ?? reader.fail(`The call has no ${quote(ARGS)} after its name.`);
  checkName(reader, name.trim(), at);
  let id: string | undefined;
  if (reader.skip(CALL_ID)) {
    const idAt = reader.at;
    id = reader.takeBefore(ARGS) ?? reader.fail(`The call has no ${quote(ARGS)} after its id.`);
    if (!/^[A-Za-z0-9]{9}$/.test(id)) reader.fail(`The id ${quote(id)} does not have 9 letters or digits.`, idAt);
  }
  reader.expect(ARGS, "before the arguments");
  const given = readArguments(reader, name.trim());
  reader.skipSpace();
  return { name: name.trim(), arguments: given, ...defined({ id }) };
}
