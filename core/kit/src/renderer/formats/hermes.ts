import { readNamedCall, writeNamedCall } from "../named-call.ts";
import type { ToolFormat } from "./format.ts";

const [BEGIN, END] = ["<tool_call>", "</tool_call>"];

/** Hermes and Qwen: one JSON object in `<tool_call>` for each call. */
export const hermes: ToolFormat = {
  openings: [{ marker: BEGIN, end: END }],
  inner: [END],
  read: (reader) => {
    reader.expect(BEGIN, "at the start of the call");
    const call = readNamedCall(reader);
    reader.skipSpace();
    reader.expect(END, "after the JSON object");
    return [call];
  },
  write: (calls) => calls.map((call) => `${BEGIN}\n${writeNamedCall(call, "arguments")}\n${END}`).join("\n"),
};
