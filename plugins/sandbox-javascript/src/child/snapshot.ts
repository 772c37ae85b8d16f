import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ivm from "isolated-vm";
import { makeAssert } from "../guest/assert.ts";
import { makeCodec } from "../guest/codec.ts";
import { installConsole } from "../guest/console.ts";
import { deepEqual } from "../guest/deep-equal.ts";
import { makeErrorDescriber } from "../guest/errors.ts";
import { makeInspector } from "../guest/inspector.ts";
import { makeJudge } from "../guest/judge.ts";
import { makeLink } from "../guest/link.ts";
import { makePlayer } from "../guest/player.ts";
import { installProgram } from "../guest/program.ts";
import { startJudge, startPlayer } from "../guest/start.ts";
import { installTimers } from "../guest/timers.ts";

/** Names under which a new isolate has its code, until the host takes it away. */
export const START = { player: "$startPlayer", judge: "$startJudge", inspector: "$inspector" } as const;

/** Heaps in which our side of an isolate is already loaded: an isolate begins from one of them in about a millisecond, instead of running that code for eight. */
export interface GuestSnapshots {
  /** Of a submission that, by its looks, shows no values: the way to show them is only text there, and seven milliseconds away. */
  readonly silent: Snapshot;
  /** Of one that does: it is made. That costs an isolate 0.6 milliseconds, because a heap is read again for each of its two contexts. */
  readonly showing: Snapshot;
  /** Of tests, which show values when they fail: it is compiled. */
  readonly judge: Snapshot;
}

export type Snapshot = ivm.ExternalCopy<ArrayBuffer>;

export function guestSnapshots(): GuestSnapshots {
  return { silent: snapshot(CALLS), showing: snapshot(`${INSPECTS}${CALLS}`, INSPECTS), judge: snapshot(`${CALLS}${INSPECTS}`) };
}

/** What every submission calls: called once, so that a snapshot holds it compiled. */
const CALLS = `{
  const player = ${START.player}('{"file":"submission.js","stdin":"","arguments":[],"files":{}}', 100, () => {}, () => {}, () => '{"ok":"1"}');
  player.load(() => [(x) => x], '["f"]');
  player.serve("f", '[[1,"a",{"b":null}]]');
  player.start("f", "[1]");
  player.result(100);
  player.tick();
  console.log("warm");
  const judge = ${START.judge}(() => '{"ok":"1"}');
  judge.define('["f"]');
  judge.start(0, [async () => assert.deepEqual([f(1)], [1])]);
  judge.verdict();
  judge.tick();
}`;

const INSPECTS = `${START.inspector}.format([1, { a: 2 }], "b");`;

const PARTS = { deepEqual, installConsole, installProgram, installTimers, makeAssert, makeCodec, makeErrorDescriber, makeJudge, makeLink, makePlayer };

/** A heap with our code, after it has run `made`; what `compiled` calls is compiled in it, and leaves nothing else. */
function snapshot(compiled: string, made = ""): Snapshot {
  return ivm.Isolate.createSnapshot([{ code: `${guestSource()}${made}` }], compiled);
}

/** The guest code: functions by their text, and Node's own way to show values, which keeps a copy of all that is built in. */
function guestSource(): string {
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
    const parts = { inspector, ${parts.join(",\n")} };
    const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true });
    define("${START.inspector}", inspector);
    define("${START.player}", (...args) => (${startPlayer})(parts, ...args));
    define("${START.judge}", (...args) => (${startJudge})(parts, ...args));
  })();`;
}
