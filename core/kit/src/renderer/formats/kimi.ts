import { type BlockReader, quote } from "../block-reader.ts";
import { spacedJson } from "../json-reader.ts";
import { checkName, readArguments } from "../named-call.ts";
import type { ToolFormat, WrittenCall } from "./format.ts";

const [BEGIN, END] = ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"];
const [CALL_BEGIN, ARGUMENTS, CALL_END] = ["<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"];
const PREFIX = "functions.";

const stray = (marker: string, end: string) => ({
  marker,
  end,
  fault: `${quote(marker)} stands outside ${quote(BEGIN)} and ${quote(END)}.`,
});

/** Kimi K2: a section of calls. Each has the id `functions.NAME:INDEX`, where INDEX counts the calls of the conversation, and JSON arguments. */
export const kimi: ToolFormat = {
  openings: [
    { marker: BEGIN, end: END },
    stray(CALL_BEGIN, CALL_END),
    stray(ARGUMENTS, ARGUMENTS),
    stray(CALL_END, CALL_END),
    stray(END, END),
  ],
  inner: [CALL_BEGIN, ARGUMENTS, CALL_END, END],
  read: (reader) => {
    const calls: WrittenCall[] = [];
    reader.expect(BEGIN, "at the start of the calls");
    reader.skipSpace();
    if (reader.isNext(END)) reader.fail("The section has no call.");
    do {
      calls.push(readCall(reader));
      reader.skipSpace();
    } while (!reader.skip(END));
    return calls;
  },
  write: (calls, index) =>
    `${BEGIN}${calls.map((call, i) => `${CALL_BEGIN}${PREFIX}${call.name}:${index + i}${ARGUMENTS}${spacedJson(call.arguments)}${CALL_END}`).join("")}${END}`,
  templateId: ({ name }, index) => `${PREFIX}${name}:${index}`,
};

function readCall(reader: BlockReader): WrittenCall {
  reader.expect(CALL_BEGIN, `or ${quote(END)}`);
  reader.skipSpace();
  const at = reader.at;
  const id = (reader.takeBefore(ARGUMENTS) ?? reader.fail(`The call has no ${quote(ARGUMENTS)}.`)).trimEnd();
  if (!id.startsWith(PREFIX)) reader.fail(`The id ${quote(id)} does not begin with ${quote(PREFIX)}.`, at);
  const index = /:[0-9]+$/.exec(id)?.[0];
  if (index === undefined) reader.fail(`The id ${quote(id)} does not end with ":" and the number of the call.`, at);
  const name = checkName(reader, id.slice(PREFIX.length, -index.length), at + PREFIX.length);
  reader.expect(ARGUMENTS, "after the id");
  const given = readArguments(reader, name);
  reader.skipSpace();
  reader.expect(CALL_END, "after the arguments");
  return { name, arguments: given };
}
