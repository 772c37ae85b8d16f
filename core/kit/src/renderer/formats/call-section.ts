import { type BlockReader, quote } from "../block-reader.ts";
import type { ToolFormat, WrittenCall } from "./format.ts";

export interface SectionMarkers {
  readonly begin: string;
  readonly end: string;
  /** Marker at the start of a call, between its parts, and at its end. */
  readonly call: readonly [begin: string, separator: string, end: string];
}

/** Returns the reading half of a format that writes all calls of a message in one section. A marker outside of it is a fault. */
export function callSection(
  { begin, end, call }: SectionMarkers,
  readCall: (reader: BlockReader) => WrittenCall,
): Pick<ToolFormat, "openings" | "inner" | "read"> {
  const [callBegin, separator, callEnd] = call;
  const stray = (marker: string, closing = marker) => ({
    marker,
    end: closing,
    fault: `${quote(marker)} stands outside ${quote(begin)} and ${quote(end)}.`,
  });
  return {
    openings: [{ marker: begin, end }, stray(callBegin, callEnd), stray(separator), stray(callEnd), stray(end)],
    inner: [...call, end],
    read: (reader) => {
      const calls: WrittenCall[] = [];
      reader.expect(begin, "at the start of the calls");
      reader.skipSpace();
      if (reader.isNext(end)) reader.fail("The section has no call.");
      do {
        calls.push(readCall(reader));
        reader.skipSpace();
      } while (!reader.skip(end));
      return calls;
    },
  };
}
