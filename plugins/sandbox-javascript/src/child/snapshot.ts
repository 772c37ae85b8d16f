import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ivm from "isolated-vm";
import { makeAssert } from "../guest/assert.ts";
import { makeCodec } from "../guest/codec.ts";
import { installConsole } from "../guest/console.ts";
import { deepEqual } from "../guest/deep-equal.ts";
import { makeErrorDescriber } from "../guest/errors.ts";
import { makeJudge } from "../guest/judge.ts";
import { makeLink } from "../guest/link.ts";
import { makePlayer } from "../guest/player.ts";
import { installProgram } from "../guest/program.ts";
import { startJudge, startPlayer } from "../guest/start.ts";
import { installTimers } from "../guest/timers.ts";

/** Names under which a new isolate has its code, until the host takes it away. */
export const START = { player: "$startPlayer", judge: "$startJudge" } as const;

/** Calls what every submission calls, so that the snapshot holds it compiled. */
const WARM_UP = `{
  const player = ${START.player}('{"file":"submission.js","stdin":"","arguments":[],"files":{}}', 100, () => {}, () => {}, () => '{"ok":"1"}');
  player.load(() => [(x) => x], '["f"]');
  player.serve("f", '[[1,"a",{"b":null}]]');
  player.start("f", "[1]");
  player.result(100);
  player.tick();
  console.log("warm", [1, { a: 2 }]);
  const judge = ${START.judge}(() => '{"ok":"1"}');
  judge.define('["f"]');
  judge.start(0, [async () => assert.deepEqual([f(1)], [1])]);
  judge.verdict();
  judge.tick();
}`;

const PARTS = { deepEqual, installConsole, installProgram, installTimers, makeAssert, makeCodec, makeErrorDescriber, makeJudge, makeLink, makePlayer };

/** A heap in which our side of an isolate is already loaded: an isolate begins from it in two milliseconds, instead of running that code for eight. */
export function guestSnapshot(): ivm.ExternalCopy<ArrayBuffer> {
  return ivm.Isolate.createSnapshot([{ code: guestSource() }], WARM_UP);
}

/** The guest code: functions by their text, and Node's own way to show values. */
function guestSource(): string {
  const inspect = readFileSync(createRequire(import.meta.url).resolve("node-inspect-extracted"), "utf8");
  const parts = Object.entries(PARTS).map(([name, part]) => `${name}: ${part}`);
  return `(() => {
    "use strict";
    const module = { exports: {} };
    (function (module, exports) {${inspect}\n})(module, module.exports);
    const { inspect, format } = module.exports;
    const parts = { inspector: { inspect: (value) => inspect(value), format }, ${parts.join(",\n")} };
    const define = (name, start) => Object.defineProperty(globalThis, name, { value: (...args) => start(parts, ...args), configurable: true });
    define("${START.player}", ${startPlayer});
    define("${START.judge}", ${startJudge});
  })();`;
}
