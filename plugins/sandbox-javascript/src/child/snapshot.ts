import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ivm from "isolated-vm";
import { makeAssert } from "../guest/assert.ts";
import { installClone } from "../guest/clone.ts";
import { installConsole } from "../guest/console.ts";
import { makeDecoder } from "../guest/decode.ts";
import { makeDeepEqual } from "../guest/deep-equal.ts";
import { makeEncoder } from "../guest/encode.ts";
import { makeErrorDescriber } from "../guest/errors.ts";
import { makeEvents } from "../guest/events.ts";
import { makeInspector } from "../guest/inspector.ts";
import { makeJudge } from "../guest/judge.ts";
import { makeLink } from "../guest/link.ts";
import { makePlayer } from "../guest/player.ts";
import { installProgram } from "../guest/program.ts";
import { type Parts, prepareJudge, preparePlayer } from "../guest/start.ts";
import { installTimers } from "../guest/timers.ts";
import { makeUpdater } from "../guest/update.ts";
import { installWeb } from "../guest/web.ts";

/** The name under which a new isolate has the function that begins; it takes the name away. */
export const START = "$start";

export type Snapshot = ivm.ExternalCopy<ArrayBuffer>;

/** Heaps in which our side of an isolate stands ready: an isolate begins from one in a millisecond, instead of running that code for eight. */
export interface GuestSnapshots {
  /** Of a submission that, by its looks, shows no values: the way to show them is only text there, and seven milliseconds away. */
  readonly silent: Snapshot;
  /** Of one that does: it is made. That costs an isolate 0.6 milliseconds, because a heap is read again for each of its two contexts. */
  readonly showing: Snapshot;
  /** Of tests, which show values when they fail: it is compiled. */
  readonly judge: Snapshot;
}

export function guestSnapshots(): GuestSnapshots {
  const shows = 'console.log([1, { a: 2 }], "b");';
  return {
    silent: snapshot(guestSource(preparePlayer), PLAYER_CALLS),
    showing: snapshot(guestSource(preparePlayer, 'inspector.format([1, { a: 2 }], "b");'), PLAYER_CALLS + shows),
    judge: snapshot(guestSource(prepareJudge), JUDGE_CALLS + shows),
  };
}

/** What every submission calls: called once in a context that is thrown away, so that the snapshot holds it compiled. */
const PLAYER_CALLS = `
  const player = ${START}('{"file":"submission.js","stdin":"","arguments":[],"files":{}}', 100, () => {}, () => {}, () => '{"ok":[[1],[],0]}', () => '');
  player.load(() => [(x) => x], '["f"]');
  player.serve(".f", '[[{"$":0}],[[1,"a",{"$":1}],{"b":null}],0]');
  player.start("f", "[1]");
  player.result(100);
  player.tick();
  console.log("warm");`;

const JUDGE_CALLS = `
  const judge = ${START}(() => '{"ok":[[1],[],0]}', () => '');
  judge.define('["f"]');
  judge.start(0, [async () => assert.deepEqual([f(1)], [1])]);
  judge.verdict();
  judge.tick();`;

const PARTS = { installClone, installConsole, installProgram, installTimers, installWeb, makeAssert, makeDecoder, makeDeepEqual, makeEncoder, makeErrorDescriber, makeEvents, makeJudge, makeLink, makePlayer, makeUpdater };

function snapshot(code: string, calls: string): Snapshot {
  return ivm.Isolate.createSnapshot([{ code }], `{${calls}}`);
}

/** The guest code: functions by their text, and Node's own way to show values, which keeps a copy of all that is built in. */
function guestSource(prepare: (parts: Parts) => unknown, more = ""): string {
  const util = readFileSync(createRequire(import.meta.url).resolve("node-inspect-extracted"), "utf8");
  const parts = Object.entries(PARTS).map(([name, part]) => `${name}: ${part}`);
  return `(() => {
    "use strict";
    const makeUtil = () => {
      const module = { exports: {} };
      // It copies Atomics, which submissions do not have.
      (function (module, exports, globalThis) {${util}\n})(module, module.exports, { __proto__: globalThis, Atomics: {} });
      const { inspect, format } = module.exports;
      return { inspect: (value) => inspect(value), format };
    };
    const inspector = (${makeInspector})(makeUtil);
    ${more}
    const start = (${prepare})({ inspector, ${parts.join(",\n")} });
    const value = (...args) => {
      delete globalThis.${START};
      return start(...args);
    };
    Object.defineProperty(globalThis, "${START}", { value, configurable: true });
  })();`;
}
