// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/** Description of an error that leaves an isolate. */
export interface DescribedError {
  readonly name: string;
  readonly message: string;
  readonly trace: string;
  readonly line?: number;
}

/** Makes a function that describes any thrown value, with the frames in the submission's files. */
export function makeErrorDescriber(): (thrown: unknown) => DescribedError {
  const ErrorClass = Error;
  const toText = String;
  const { apply } = Reflect;
  const split = String.prototype.split;
  const exec = RegExp.prototype.exec;
  const slice = String.prototype.slice;
  const startsWith = String.prototype.startsWith;
  const MAX_TEXT = 4000;
  const MAX_FRAMES = 12;
  // "at f (submission.js:3:7)" or "at submission.js:3:7"; a file of the submission is `./path`, without a scheme.
  const frame = /^ +at (?:.* \()?((?:submission\.[jt]s|\.\/[^:()]+)):(\d+):\d+\)?$/;

  const textOf = (read: () => unknown): string => {
    try {
      return apply(slice, toText(read()), [0, MAX_TEXT]) as string;
    } catch {
      return "";
    }
  };

  return (thrown) => {
    if (!(thrown instanceof ErrorClass))
      return { name: "Error", message: `${textOf(() => thrown)} was thrown, which is not an Error`, trace: "" };
    const name = textOf(() => thrown.name) || "Error";
    const message = textOf(() => thrown.message);
    const frames: string[] = [];
    let line: number | undefined;
    for (const text of apply(
      split,
      textOf(() => thrown.stack),
      ["\n"],
    ) as string[]) {
      const match = apply(exec, frame, [text]) as RegExpExecArray | null;
      if (match === null || frames.length >= MAX_FRAMES) continue;
      frames[frames.length] = text;
      if (line === undefined && apply(startsWith, match[1], ["submission."])) line = +(match[2] as string);
    }
    let trace = `${name}${message === "" ? "" : `: ${message}`}`;
    for (let i = 0; i < frames.length; i++) trace += `\n${frames[i]}`;
    return line === undefined ? { name, message, trace } : { name, message, trace, line };
  };
}
