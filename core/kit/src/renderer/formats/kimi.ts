import { type BlockReader, quote } from "../block-reader.ts";
import { spacedJson } from "../json-reader.ts";
import { checkName, readArguments } from "../named-call.ts";
import { callSection } from "./call-section.ts";
import type { ToolFormat, WrittenCall } from "./format.ts";

const [BEGIN, END] = ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"];
const [CALL_BEGIN, ARGUMENTS, CALL_END] = ["<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"];
const PREFIX = "functions.";

/** Kimi K2: a section of calls. Each has the id `functions.NAME:INDEX`, where INDEX counts the calls of the conversation, and JSON arguments. */
export const kimi: ToolFormat = {
  ...callSection({ begin: BEGIN, end: END, call: [CALL_BEGIN, ARGUMENTS, CALL_END] }, readCall),
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
