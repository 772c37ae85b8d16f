// Runs inside an isolate, which receives the texts of these functions: the functions must not use anything else of this module.
import type { makeAssert } from "./assert.ts";
import type { installClone } from "./clone.ts";
import type { installConsole } from "./console.ts";
import type { makeDecoder } from "./decode.ts";
import type { makeDeepEqual } from "./deep-equal.ts";
import type { makeEncoder } from "./encode.ts";
import type { DescribedError, makeErrorDescriber } from "./errors.ts";
import type { makeEvents } from "./events.ts";
import type { Inspector } from "./inspector.ts";
import type { CheckerApi, makeChecker } from "./checker.ts";
import type { makeLink } from "./link.ts";
import type { makeRunner, RunnerApi } from "./runner.ts";
import type { installProgram, ProgramInput } from "./program.ts";
import type { installWeb } from "./install-web.ts";
import type { installTimers } from "./timers.ts";
import type { makeUpdater } from "./update.ts";
import type { makeWeb } from "./web.ts";

/** Parts of the code of an isolate. */
export interface Parts {
  readonly inspector: Inspector;
  readonly lazily: typeof lazily;
  readonly makeDeepEqual: typeof makeDeepEqual;
  readonly installClone: typeof installClone;
  readonly installConsole: typeof installConsole;
  readonly installProgram: typeof installProgram;
  readonly installTimers: typeof installTimers;
  readonly installWeb: typeof installWeb;
  readonly makeAssert: typeof makeAssert;
  readonly makeDecoder: typeof makeDecoder;
  readonly makeEncoder: typeof makeEncoder;
  readonly makeErrorDescriber: typeof makeErrorDescriber;
  readonly makeEvents: typeof makeEvents;
  readonly makeChecker: typeof makeChecker;
  readonly makeLink: typeof makeLink;
  readonly makeRunner: typeof makeRunner;
  readonly makeUpdater: typeof makeUpdater;
  readonly makeWeb: typeof makeWeb;
}

/** Makes a function on its first call, because each part that is made costs every isolate time. */
export function lazily<Args extends unknown[], Result>(
  make: () => (...args: Args) => Result,
): (...args: Args) => Result {
  let made: ((...args: Args) => Result) | undefined;
  return (...args) => (made ??= make())(...args);
}

/** Functions of the parent: they take and return only text and numbers. */
export type Write = (stream: "stdout" | "stderr", text: string) => void;
export type CallParent = (target: string, argsText: string) => string;

/** Starts an isolate made from a snapshot, with its input and the functions of the parent. */
export type StartRunner = (
  inputJson: string,
  maxText: number,
  write: Write,
  exit: (code: number, filesJson: string) => void,
  callParent: CallParent,
) => RunnerApi;
export type StartChecker = (callParent: CallParent) => CheckerApi;

/** Prepares the submission's isolate, as far as a snapshot can contain it. */
export function prepareRunner(parts: Parts): StartRunner {
  interface Parent {
    readonly maxText: number;
    readonly write: Write;
    readonly exit: (code: number, filesJson: string) => void;
    readonly callParent: CallParent;
  }
  const { parse, stringify } = JSON;
  const { inspector } = parts;
  const { lazily } = parts;
  const deepEqual = lazily(parts.makeDeepEqual);
  const uncaught: string[] = [];
  let parent: Parent | undefined;
  const there = (): Parent => parent as Parent;
  const put: Write = (stream, text) => {
    const { write, maxText } = there();
    write(stream, text.length > maxText ? text.slice(0, maxText + 1) : text);
  };
  const describe = parts.makeErrorDescriber();
  const timers = parts.installTimers((error) => void (uncaught[uncaught.length] = stringify(describe(error))));
  parts.installConsole(inspector, put);
  parts.installWeb(parts.makeWeb, (argsText) => there().callParent(":url", argsText));
  const program = parts.installProgram(
    { write: put, exit: (code) => there().exit(code, program.fetched()) },
    inspector,
    deepEqual,
    parts,
  );
  const encode = parts.makeEncoder();
  const decode = parts.makeDecoder();
  parts.installClone(encode, decode);
  const callOther: CallParent = (target, argsText) => there().callParent(target, argsText);
  const link = parts.makeLink({
    letter: "s",
    encode,
    decode,
    update: lazily(parts.makeUpdater),
    callOther,
    describe,
    onThrown: () => {},
  });
  const runner = parts.makeRunner({ describe, inspector, link, program, timers, takeUncaught: () => uncaught.shift() });
  return (inputJson, maxText, write, exit, callParent) => {
    parent = { maxText, write, exit, callParent };
    program.begin(parse(inputJson) as ProgramInput);
    return runner;
  };
}

/** Prepares the isolate of the tests. */
export function prepareChecker(parts: Parts): StartChecker {
  const { inspector, lazily } = parts;
  const uncaught: string[] = [];
  const thrown = new WeakMap<object, DescribedError>();
  let callParent: CallParent | undefined;
  const describe = parts.makeErrorDescriber();
  const assert = parts.makeAssert(inspector, parts.makeDeepEqual()) as { ok: unknown; strict: unknown };
  const timers = parts.installTimers((error) => void uncaught.push(JSON.stringify(describe(error))));
  parts.installConsole(inspector, () => {});
  parts.installWeb(parts.makeWeb, (argsText) => (callParent as CallParent)(":url", argsText));
  // Some published test suites use it for assertions.
  (globalThis.console as { assert: unknown }).assert = assert.ok;
  const require = (name: string): unknown => {
    if (/^(?:node:)?assert$/.test(name)) return assert;
    if (/^(?:node:)?assert\/strict$/.test(name)) return assert.strict;
    throw new Error(`Tests can require "assert" only, not "${name}".`);
  };
  for (const [name, value] of Object.entries({ assert, require }))
    Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true });
  const encode = parts.makeEncoder();
  const decode = parts.makeDecoder();
  parts.installClone(encode, decode);
  const link = parts.makeLink({
    letter: "t",
    encode,
    decode,
    update: lazily(parts.makeUpdater),
    callOther: (target, argsText) => (callParent as CallParent)(target, argsText),
    describe,
    onThrown: (error, from) => thrown.set(error, from),
  });
  const checker = parts.makeChecker({ inspector, link, timers, thrown, takeUncaught: () => uncaught.shift() });
  return (call) => {
    callParent = call;
    return checker;
  };
}
