import { readCallList, startsCallList, writeCallList } from "../python-calls.ts";
import { type ToolFormat, expectEnd } from "./format.ts";

const [BEGIN, END] = ["<|tool_call_start|>", "<|tool_call_end|>"];

/** Python list of calls as the whole answer (ToolACE and others), or between the markers of LFM2. */
export const pythonic: ToolFormat = {
  openings: [{ marker: BEGIN, end: END }],
  inner: [END],
  startsBlock: startsCallList,
  read: (reader) => {
    const isMarked = reader.skip(BEGIN);
    const calls = readCallList(reader);
    reader.skipSpace();
    if (isMarked) reader.expect(END, "after the list");
    expectEnd(reader);
    return calls;
  },
  write: (calls, _, hasToken) => (hasToken(BEGIN) ? `${BEGIN}${writeCallList(calls)}${END}` : writeCallList(calls)),
};
