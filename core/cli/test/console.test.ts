import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/spec";
import { decimal, duration } from "../src/console/numbers.ts";
import { progressBar } from "../src/console/progress-bar.ts";
import { reportError } from "../src/run-cli.ts";
import { RunLog, withLog } from "../src/console/run-log.ts";
import { shownPath } from "../src/console/shown-path.ts";
import { table } from "../src/console/table.ts";
import { recordedConsole } from "./support/console.ts";

describe("numbers, tables, paths", () => {
  test("a share, a reward, or nothing", () =>
    expect([decimal(0.98765), decimal(null), decimal(undefined), decimal(Number.NaN)]).toEqual([
      "0.988",
      "-",
      "-",
      "-",
    ]));
  test("seconds, and minutes from 60 on", () =>
    expect([duration(8.14), duration(59.94), duration(125), duration(119.6)]).toEqual([
      "8.1 s",
      "59.9 s",
      "2 min 05 s",
      "2 min 00 s",
    ]));
  test("columns of numbers stand on the right", () =>
    expect(
      table([
        ["name", "n"],
        ["a", "5"],
        ["bc", "12"],
      ]),
    ).toBe("name   n\n────  ──\na      5\nbc    12"));
  test("a path is relative only below the working directory, and quoted where a shell would split it", () => {
    expect([
      shownPath("/a/b/c", "/a/b"),
      shownPath("/a/b", "/a/b"),
      shownPath("/a/x", "/a/b"),
      shownPath("/a/b/my run", "/a/b"),
      shownPath("/a/b/..x", "/a/b"),
    ]).toEqual(["c", ".", "/a/x", "'my run'", "/a/b/..x"]);
  });
});

describe("what goes where", () => {
  test("for people: results on stdout, notes on stderr", () => {
    const { console, out, err } = recordedConsole();
    console.print("result");
    console.note("note");
    console.emit({ event: "x" });
    expect([out(), err()]).toEqual(["result\n", "note\n"]);
  });

  test("--json: stdout holds objects only", () => {
    const { console, out } = recordedConsole({ json: true });
    console.print("result");
    console.emit({ event: "x", n: 1 });
    expect(out()).toBe('{"event":"x","n":1}\n');
  });

  test("an error has its code, its hint and the causes that add something", () => {
    const { console, err } = recordedConsole();
    reportError(
      console,
      new MrlmError("ENGINE_EXITED", "The engine ended.", { hint: "Start it.", cause: new Error("SIGSEGV") }),
    );
    expect(err()).toBe("error ENGINE_EXITED: The engine ended.\n  Start it.\n  caused by: SIGSEGV\n");
    const remote = recordedConsole();
    const status = Object.assign(new Error("14 UNAVAILABLE: refused"), { code: 14, details: "refused", metadata: {} });
    reportError(
      remote.console,
      new MrlmError("SERVER_UNAVAILABLE", "It cannot be reached: refused", { hint: "", cause: status }),
    );
    expect(remote.err()).not.toContain("caused by");
    const json = recordedConsole({ json: true });
    reportError(json.console, new TypeError("oops"));
    expect([json.out(), json.err()]).toEqual([
      '{"event":"error","code":"INTERNAL","message":"oops"}\n',
      expect.stringContaining("console.test.ts"),
    ]);
  });
});

describe("progress", () => {
  test("is redrawn in place on a terminal, within its width, and taken away", () => {
    const { console, err } = recordedConsole({ columns: 30 });
    const bar = progressBar(console, "sft ");
    bar.update(3, 6, "loss 1.000  and more than fits");
    bar.clear();
    const [, drawn, cleared] = err().split("\r\u001b[2K");
    expect([drawn, cleared]).toEqual(["sft  ████░░░░ 3/6  loss 1.000", ""]);
    const narrow = recordedConsole({ columns: 28 });
    progressBar(narrow.console, "sft ").update(3, 6, "loss 1.000  entropy 0.5");
    expect(narrow.err()).toMatch(/ 3\/6$/);
    const wide = recordedConsole({ columns: 120 });
    progressBar(wide.console, "sft ").update(3, 6, "loss");
    expect(wide.err()).toContain(`sft  ${"█".repeat(12)}${"░".repeat(12)} 3/6`);
  });

  test("elsewhere is a line at the start and the end, and none with --json", () => {
    const plain = recordedConsole();
    const json = recordedConsole({ json: true });
    for (const { console } of [plain, json]) {
      const bar = progressBar(console, "sft");
      for (let step = 1; step <= 5; step++) bar.update(step, 5, "loss");
    }
    expect([plain.err(), json.err()]).toEqual(["sft 1/5  loss\nsft 5/5  loss\n", ""]);
  });
});

describe("the log of a run", () => {
  test("U16: the log has what is printed, and the details, from the beginning", () => {
    const file = join(mkdtempSync(join(tmpdir(), "mrlm-log-")), "train.log");
    const log = new RunLog();
    const { console, out, err } = recordedConsole();
    const logged = withLog(console, log);
    logged.note("starting");
    log.write("memory");
    log.open(file);
    logged.print("result");
    expect([out(), err()]).toEqual(["result\n", "starting\n"]);
    expect(readFileSync(file, "utf8").replace(/^\S+ /gm, "")).toBe("starting\nmemory\nresult\n");
    log.open("/dev/null/no");
    expect(() => log.write("more")).not.toThrow();
  });

  test("U4: what models, environments and plugins write reaches no terminal as a control sequence", () => {
    const log = new RunLog();
    const file = join(mkdtempSync(join(tmpdir(), "mrlm-log-")), "train.log");
    log.open(file);
    const { console, out, err } = recordedConsole();
    const logged = withLog(console, log);
    logged.print("a\u001b[2J\u001b]0;title\u0007\r\n\tb\rc\u009b1A é│");
    logged.note("\u0008\u007f");
    expect([out(), err()]).toEqual([
      "a\\u001b[2J\\u001b]0;title\\u0007\n\tb\\u000dc\\u009b1A é│\n",
      "\\u0008\\u007f\n",
    ]);
    // oxlint-disable-next-line no-control-regex
    expect(readFileSync(file, "utf8")).toMatch(/^[^\x00-\x08\x0b-\x1f\x7f-\x9f]+$/);
  });
});
