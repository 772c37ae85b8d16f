/** Output of code of plugins. */
export interface Printed {
  readonly bytes: number;
  /** Its beginning. */
  readonly head: string;
}

const HEAD_LENGTH = 200;

/** Adds to output that is counted and not kept. */
export function addPrinted({ bytes, head }: Printed, chunk: string | Uint8Array): Printed {
  const missing = HEAD_LENGTH - head.length;
  const text =
    missing <= 0
      ? ""
      : typeof chunk === "string"
        ? chunk
        : Buffer.from(chunk.subarray(0, 4 * missing)).toString("utf8");
  return { bytes: bytes + Buffer.byteLength(chunk), head: head + text.slice(0, missing) };
}

/** Counts what this process prints from now on, and prints none of it. Each call of the result returns the output since the last. */
export function interceptOutput(): () => Printed {
  let printed: Printed = { bytes: 0, head: "" };
  for (const stream of [process.stdout, process.stderr])
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      printed = addPrinted(printed, chunk);
      const written = rest.find((each) => typeof each === "function") as ((error?: Error) => void) | undefined;
      if (written !== undefined) process.nextTick(written);
      return true;
    };
  return () => {
    const since = printed;
    printed = { bytes: 0, head: "" };
    return since;
  };
}
