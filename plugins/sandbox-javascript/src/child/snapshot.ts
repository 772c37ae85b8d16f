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
import { lazily, type Parts, prepareJudge, preparePlayer } from "../guest/start.ts";
import { installWeb } from "../guest/install-web.ts";
import { installTimers } from "../guest/timers.ts";
import { makeUpdater } from "../guest/update.ts";
import { makeWeb } from "../guest/web.ts";

/** The name under which a new isolate has the function that begins; it takes the name away. */
export const START = "$start";

export type Snapshot = ivm.ExternalCopy<ArrayBuffer>;

/** Heaps in which our side of an isolate stands ready: an isolate begins from one in a millisecond, instead of running that code for eight. */
export interface GuestSnapshots {
  /** Of a submission that, by its looks, shows no values: the way to show them is fetched, and seven milliseconds away. */
  readonly silent: Snapshot;
  /** Of one that does: it is made. That costs an isolate 0.6 milliseconds, because a heap is read again for each of its two contexts. */
  readonly showing: Snapshot;
  /** Of tests, which show values when they fail: it is compiled. */
  readonly judge: Snapshot;
}

export function guestSnapshots(): GuestSnapshots {
  const shows = 'console.log([1, { a: 2 }], "b");';
  return {
    silent: snapshot(guestSource(preparePlayer, []), PLAYER_CALLS),
    showing: snapshot(
      guestSource(preparePlayer, ["inspector"], 'inspector.format([1, { a: 2 }], "b");'),
      PLAYER_CALLS + shows,
    ),
    judge: snapshot(guestSource(prepareJudge, ["inspector", "makeAssert", "makeDeepEqual"]), JUDGE_CALLS + shows),
  };
}

/** What every submission calls: called once in a context that is thrown away, so that the snapshot holds it compiled. */
const PLAYER_CALLS = `
  const player = ${START}('{"file":"submission.js","stdin":"","arguments":[],"files":{}}', 100, () => {}, () => {}, () => '{"ok":[[1],[],0]}');
  player.load(() => [(x) => x], '["f"]');
  player.serve(".f", '[[{"$":0}],[[1,"a",{"$":1}],{"b":null}],0]');
  player.start("f", "[1]");
  player.result(100);
  player.tick();
  console.log("warm");`;

/** The submission answers with a record. */
const JUDGE_CALLS = `
  const judge = ${START}(() => '{"ok":[[{"$":2}],[{"c":1,"d":"e"}],2]}');
  judge.define('["f"]');
  judge.start(0, [async () => {
    const r = f([1, { a: 2 }]);
    assert.notDeepEqual([r, 1], [1, { d: "e" }]);
    assert.deepStrictEqual([r], [r]);
    assert.deepEqual([{ a: 1 }], [{ a: 1 }]);
    assert.equal(1, 1);
    assert.strictEqual(1, 1);
    assert(true);
  }]);
  judge.verdict();
  judge.tick();`;

const PARTS = {
  installClone,
  installConsole,
  installProgram,
  installTimers,
  installWeb,
  lazily,
  makeDecoder,
  makeEncoder,
  makeErrorDescriber,
  makeJudge,
  makeLink,
  makePlayer,
};
/** Parts that submissions seldom use. Isolates fetch their text when it is needed: everything in a snapshot costs each isolate time. */
const SELDOM = { makeAssert, makeDeepEqual, makeEvents, makeUpdater, makeWeb };

/** The text of a part that an isolate fetches, "" if there is none of this name. */
export function partText(name: unknown): string {
  if (name === "inspector") return INSPECTOR;
  return typeof name === "string" && Object.hasOwn(SELDOM, name)
    ? `(${String(SELDOM[name as keyof typeof SELDOM])})`
    : "";
}

/** Node's own way to show values, which keeps a copy of all that is built in. It copies Atomics, which submissions do not have. */
const INSPECTOR = `(() => {
  "use strict";
  const module = { exports: {} };
  (function (module, exports, globalThis) {${readFileSync(createRequire(import.meta.url).resolve("node-inspect-extracted"), "utf8")}\n})(module, module.exports, { __proto__: globalThis, Atomics: {} });
  const { inspect, format } = module.exports;
  return { inspect: (...args) => inspect(...args), format };
})`;

function snapshot(code: string, calls: string): Snapshot {
  return ivm.Isolate.createSnapshot([{ code }], `{${calls}}`);
}

/** The guest code: functions by their text. `held`: parts that the snapshot holds instead of fetching them. */
function guestSource(prepare: (parts: Parts) => unknown, held: readonly string[], more = ""): string {
  const seldom = Object.keys(SELDOM).map(
    (name) => `${name}: ${held.includes(name) ? partText(name) : `(...args) => fetched("${name}")(...args)`}`,
  );
  const parts = [...Object.entries(PARTS).map(([name, part]) => `${name}: ${part}`), ...seldom];
  return `(() => {
    "use strict";
    const evaluate = eval;
    let callHost;
    const fetched = (name) => evaluate(callHost(":part", name));
    const inspector = (${makeInspector})(${held.includes("inspector") ? INSPECTOR : '() => fetched("inspector")()'});
    ${more}
    const start = (${prepare})({ inspector, ${parts.join(",\n")} });
    const value = (...args) => {
      delete globalThis.${START};
      callHost = args[args.length - 1];
      return start(...args);
    };
    Object.defineProperty(globalThis, "${START}", { value, configurable: true });
  })();`;
}
