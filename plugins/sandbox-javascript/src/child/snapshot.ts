import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import ivm from "isolated-vm";
import { makeAssert } from "../isolate/assert.ts";
import { installClone } from "../isolate/clone.ts";
import { installConsole } from "../isolate/console.ts";
import { makeDecoder } from "../isolate/decode.ts";
import { makeDeepEqual } from "../isolate/deep-equal.ts";
import { makeEncoder } from "../isolate/encode.ts";
import { makeErrorDescriber } from "../isolate/errors.ts";
import { makeEvents } from "../isolate/events.ts";
import { makeInspector } from "../isolate/inspector.ts";
import { makeChecker } from "../isolate/checker.ts";
import { makeLink } from "../isolate/link.ts";
import { makeRunner } from "../isolate/runner.ts";
import { installProgram } from "../isolate/program.ts";
import { lazily, type Parts, prepareChecker, prepareRunner } from "../isolate/start.ts";
import { installWeb } from "../isolate/install-web.ts";
import { installTimers } from "../isolate/timers.ts";
import { makeUpdater } from "../isolate/update.ts";
import { makeWeb } from "../isolate/web.ts";

/** Name of the start function in a new isolate. The function deletes the name. */
export const START = "$start";

export type Snapshot = ivm.ExternalCopy<ArrayBuffer>;

/** Heap snapshots with our code. An isolate starts from one in a millisecond; running the code would take eight. */
export interface IsolateSnapshots {
  /** For a submission that probably prints no objects: it fetches the inspector on first use, in seven milliseconds. */
  readonly silent: Snapshot;
  /** For a submission that does: the inspector is included. It costs 0.6 milliseconds, because each of two contexts reads the heap. */
  readonly showing: Snapshot;
  /** Compile the inspector for tests, which show values when they fail. */
  readonly checker: Snapshot;
}

export function isolateSnapshots(): IsolateSnapshots {
  const shows = 'console.log([1, { a: 2 }], "b");';
  return {
    silent: snapshot(isolateSource(prepareRunner, []), RUNNER_CALLS),
    showing: snapshot(
      isolateSource(prepareRunner, ["inspector"], 'inspector.format([1, { a: 2 }], "b");'),
      RUNNER_CALLS + shows,
    ),
    checker: snapshot(
      isolateSource(prepareChecker, ["inspector", "makeAssert", "makeDeepEqual"]),
      CHECKER_CALLS + shows,
    ),
  };
}

/** Calls of every submission, made once in a temporary context, so that the snapshot has the functions compiled. */
const RUNNER_CALLS = `
  const runner = ${START}('{"file":"submission.js","stdin":"","arguments":[],"files":{}}', 100, () => {}, () => {}, () => '{"ok":[[1],[],0]}');
  runner.load(() => [(x) => x], '["f"]');
  runner.serve(".f", '[[{"$":0}],[[1,"a",{"$":1}],{"b":null}],0]');
  runner.start("f", "[1]");
  runner.result(100);
  runner.tick();
  console.log("warm");`;

/** The same for tests; the submission answers with a record. */
const CHECKER_CALLS = `
  const checker = ${START}(() => '{"ok":[[{"$":2}],[{"c":1,"d":"e"}],2]}');
  checker.define('["f"]');
  checker.start(0, [async () => {
    const r = f([1, { a: 2 }]);
    assert.notDeepEqual([r, 1], [1, { d: "e" }]);
    assert.deepStrictEqual([r], [r]);
    assert.deepEqual([{ a: 1 }], [{ a: 1 }]);
    assert.equal(1, 1);
    assert.strictEqual(1, 1);
    assert(true);
  }]);
  checker.verdict();
  checker.tick();`;

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
  makeChecker,
  makeLink,
  makeRunner,
};
/** Parts that submissions seldom use. Isolates fetch their text on first use: every part of a snapshot costs each isolate time. */
const SELDOM = { makeAssert, makeDeepEqual, makeEvents, makeUpdater, makeWeb };

/** Returns the text of a part that an isolate fetches, "" if there is no such part. */
export function partText(name: unknown): string {
  if (name === "inspector") return INSPECTOR;
  return typeof name === "string" && Object.hasOwn(SELDOM, name)
    ? `(${String(SELDOM[name as keyof typeof SELDOM])})`
    : "";
}

/** Node's own inspector, which copies all built-in objects. It expects Atomics, which submissions do not have. */
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

/** Returns the code in isolates, as the text of functions. `included`: seldom used parts that the snapshot contains. */
function isolateSource(prepare: (parts: Parts) => unknown, included: readonly string[], more = ""): string {
  const seldom = Object.keys(SELDOM).map(
    (name) => `${name}: ${included.includes(name) ? partText(name) : `(...args) => fetched("${name}")(...args)`}`,
  );
  const parts = [...Object.entries(PARTS).map(([name, part]) => `${name}: ${part}`), ...seldom];
  return `(() => {
    "use strict";
    const evaluate = eval;
    let callParent;
    const fetched = (name) => evaluate(callParent(":part", name));
    const inspector = (${makeInspector})(${included.includes("inspector") ? INSPECTOR : '() => fetched("inspector")()'});
    ${more}
    const start = (${prepare})({ inspector, ${parts.join(",\n")} });
    const value = (...args) => {
      delete globalThis.${START};
      callParent = args[args.length - 1];
      return start(...args);
    };
    Object.defineProperty(globalThis, "${START}", { value, configurable: true });
  })();`;
}
