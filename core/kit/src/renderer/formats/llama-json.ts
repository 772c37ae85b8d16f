import { quote } from "../block-reader.ts";
import { readNamedCall, writeNamedCall } from "../named-call.ts";
import { type ToolFormat, type WrittenCall, expectEnd } from "./format.ts";

const TAG = "<|python_tag|>";

/** Beginnings of a call without white space. An answer may be a JSON object too. */
const BEGINNINGS = ['{"name"', '{"parameters"', '{"arguments"', '{"type":"function"'];

/** Llama 3: JSON objects with `name` and `parameters`, separated by semicolons. They are the whole answer or follow `<|python_tag|>`. */
export const llamaJson: ToolFormat = {
  openings: [{ marker: TAG, end: undefined }],
  inner: [],
  startsBlock: (answer) => {
    const compact = answer.replaceAll(/\s+/g, "");
    if (BEGINNINGS.some((beginning) => compact.startsWith(beginning))) return true;
    return BEGINNINGS.some((beginning) => beginning.startsWith(compact)) ? undefined : false;
  },
  read: (reader) => {
    const calls: WrittenCall[] = [];
    reader.skip(TAG);
    do {
      calls.push(readNamedCall(reader));
      reader.skipSpace();
      if (reader.isNext("{")) reader.fail(`Two calls have no ${quote(";")} between them.`);
    } while (reader.skip(";"));
    expectEnd(reader);
    return calls;
  },
  write: (calls) => calls.map((call) => writeNamedCall(call, "parameters")).join("; "),
};
