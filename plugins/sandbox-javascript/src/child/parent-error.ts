import type { SandboxError } from "@mrlm/spec";

/** Stack frame in one of the submission's files. */
const FRAME = /^ +at (?:.* \()?((?:submission\.[jt]s|\.\/[^:()]+)):(\d+):\d+\)?$/;
const MAX_FRAMES = 12;
/** Maximum characters: a submission controls their length. */
const MAX_MESSAGE = 10_000;
const MAX_STACK = 100_000;
/** Position that isolated-vm appends to the message of a syntax error. */
const PLACE = / \[([^[\]]+):(\d+):\d+\]$/;

/** Describes an error that isolated-vm copied out of an isolate: a syntax error, or an unhandled rejection. */
export function describeParentError(error: unknown, file: string): SandboxError {
  if (!(error instanceof Error))
    return { name: "Error", message: `${String(error)} was thrown, which is not an Error`, trace: "" };
  const text = error.message.slice(0, MAX_MESSAGE);
  const place = PLACE.exec(text);
  const message = text.replace(PLACE, "");
  const heading = `${error.name}: ${message}`;
  if (place !== null) {
    const line = place[1] === file ? { line: Number(place[2]) } : {};
    return { name: error.name, message, trace: `${heading}\n    at ${place[1]}:${place[2]}`, ...line };
  }
  const frames = String(error.stack)
    .slice(0, MAX_STACK)
    .split("\n")
    .filter((text) => FRAME.test(text))
    .slice(0, MAX_FRAMES);
  const line = frames.map((text) => FRAME.exec(text)).find((match) => match?.[1] === file)?.[2];
  return {
    name: error.name,
    message,
    trace: [heading, ...frames].join("\n"),
    ...(line === undefined ? {} : { line: Number(line) }),
  };
}
