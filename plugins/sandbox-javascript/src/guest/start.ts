// Runs inside an isolate: the texts of these functions are what goes there, so they use nothing of this module.
import type { makeAssert } from "./assert.ts";
import type { makeCodec } from "./codec.ts";
import type { installConsole } from "./console.ts";
import type { deepEqual } from "./deep-equal.ts";
import type { DescribedError, makeErrorDescriber } from "./errors.ts";
import type { Inspector } from "./inspector.ts";
import type { JudgeGuest, makeJudge } from "./judge.ts";
import type { makeLink } from "./link.ts";
import type { makePlayer, PlayerGuest } from "./player.ts";
import type { installProgram, ProgramInput } from "./program.ts";
import type { installTimers } from "./timers.ts";

/** The parts that an isolate's code is made of. */
export interface Parts {
  readonly inspector: Inspector;
  readonly deepEqual: typeof deepEqual;
  readonly installConsole: typeof installConsole;
  readonly installProgram: typeof installProgram;
  readonly installTimers: typeof installTimers;
  readonly makeAssert: typeof makeAssert;
  readonly makeCodec: typeof makeCodec;
  readonly makeErrorDescriber: typeof makeErrorDescriber;
  readonly makeJudge: typeof makeJudge;
  readonly makeLink: typeof makeLink;
  readonly makePlayer: typeof makePlayer;
}

/** Host functions: they take and return text and numbers, nothing else. */
export type Write = (stream: "stdout" | "stderr", text: string) => void;
export type CallHost = (target: string | number, argsText: string) => string;

/** Prepares the submission's isolate. */
export function startPlayer(parts: Parts, inputJson: string, maxText: number, write: Write, exit: (code: number) => void, callHost: CallHost): PlayerGuest {
  const input = JSON.parse(inputJson) as ProgramInput;
  const uncaught: string[] = [];
  const describe = parts.makeErrorDescriber(input.file);
  const { stringify } = JSON;
  const put: Write = (stream, text) => write(stream, text.length > maxText ? text.slice(0, maxText + 1) : text);
  const timers = parts.installTimers((error) => void (uncaught[uncaught.length] = stringify(describe(error))));
  parts.installConsole(parts.inspector, put);
  const assert = parts.makeAssert(parts.inspector, parts.deepEqual);
  const program = parts.installProgram(input, { write: put, exit }, parts.inspector, assert);
  const link = parts.makeLink(parts.makeCodec(), callHost, describe, () => {});
  return parts.makePlayer({ describe, inspector: parts.inspector, link, program, timers, takeUncaught: () => uncaught.shift() });
}

/** Prepares the isolate of the tests. */
export function startJudge(parts: Parts, callHost: CallHost): JudgeGuest {
  const uncaught: string[] = [];
  const thrown = new WeakMap<object, DescribedError>();
  const describe = parts.makeErrorDescriber("");
  const assert = parts.makeAssert(parts.inspector, parts.deepEqual) as { ok: unknown };
  const timers = parts.installTimers((error) => void uncaught.push(JSON.stringify(describe(error))));
  parts.installConsole(parts.inspector, () => {});
  // Test suites in the wild assert by it.
  (globalThis.console as { assert: unknown }).assert = assert.ok;
  const require = (name: string): unknown => {
    if (/^(node:)?assert(\/strict)?$/.test(name)) return assert;
    throw new Error(`Tests can require "assert" only, not "${name}".`);
  };
  for (const [name, value] of Object.entries({ assert, require })) Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true });
  const link = parts.makeLink(parts.makeCodec(), callHost, describe, (error, from) => thrown.set(error, from));
  return parts.makeJudge({ inspector: parts.inspector, link, timers, thrown, takeUncaught: () => uncaught.shift() });
}
