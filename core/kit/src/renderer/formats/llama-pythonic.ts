import { readCallList, startsCallList, writeCallList } from "../python-calls.ts";
import { type ToolFormat, expectEnd } from "./format.ts";

const [BEGIN, END] = ["<|python_start|>", "<|python_end|>"];
const TAG = "<|python_tag|>";

/** Llama 3.2 and 4: Python list of calls as the whole answer, after `<|python_tag|>`, or between `<|python_start|>` and `<|python_end|>`. */
export const llamaPythonic: ToolFormat = {
  openings: [
    { marker: BEGIN, end: END },
    { marker: TAG, end: undefined },
  ],
  inner: [END],
  startsBlock: startsCallList,
  read: (reader) => {
    const isMarked = reader.skip(BEGIN);
    if (!isMarked) reader.skip(TAG);
    const calls = readCallList(reader);
    reader.skipSpace();
    if (isMarked) reader.expect(END, "after the list");
    expectEnd(reader);
    return calls;
  },
  write: writeCallList,
};
