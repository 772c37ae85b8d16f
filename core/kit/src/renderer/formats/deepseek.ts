import { type BlockReader, quote } from "../block-reader.ts";
import { spacedJson } from "../json-reader.ts";
import { checkName, readArguments } from "../named-call.ts";
import { callSection } from "./call-section.ts";
import type { ToolFormat, WrittenCall } from "./format.ts";

const [BEGIN, END] = ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"];
const [CALL_BEGIN, SEPARATOR, CALL_END] = ["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"];
const [FENCE_BEGIN, FENCE_END] = ["```json", "```"];

/**
 * DeepSeek: a section of calls. V3 and R1 write `function`, the separator, the name, and the arguments in a Markdown fence; V3.1 writes the name, the
 * separator and the arguments.
 */
export const deepseek: ToolFormat = {
  ...callSection({ begin: BEGIN, end: END, call: [CALL_BEGIN, SEPARATOR, CALL_END] }, readCall),
  write: (calls) =>
    `${BEGIN}${calls.map((call) => `${CALL_BEGIN}${call.name}${SEPARATOR}${spacedJson(call.arguments)}${CALL_END}`).join("")}${END}`,
};

function readCall(reader: BlockReader): WrittenCall {
  reader.expect(CALL_BEGIN, `or ${quote(END)}`);
  const at = reader.at;
  const head = reader.takeBefore(SEPARATOR) ?? reader.fail(`The call has no ${quote(SEPARATOR)}.`);
  reader.expect(SEPARATOR, "in the call");
  reader.skipSpace();
  const call = head === "function" && !reader.isNext("{") ? readFenced(reader) : readPlain(reader, head, at);
  reader.skipSpace();
  reader.expect(CALL_END, "after the arguments");
  return call;
}

function readPlain(reader: BlockReader, name: string, at: number): WrittenCall {
  checkName(reader, name, at);
  return { name, arguments: readArguments(reader, name) };
}

function readFenced(reader: BlockReader): WrittenCall {
  const at = reader.at;
  const name = (reader.takeBefore("\n") ?? reader.fail("The call has no line break after its name.")).trimEnd();
  checkName(reader, name, at);
  reader.skipSpace();
  reader.expect(FENCE_BEGIN, "before the arguments");
  const given = readArguments(reader, name);
  reader.skipSpace();
  reader.expect(FENCE_END, "after the arguments");
  return { name, arguments: given };
}
