import { expect } from "@jest/globals";
import type { ToolCallOptions } from "@mrlm/kit";
import type { OpenPython, OpenPythonOptions } from "./open-python.ts";

/** Test of the tool over a sandbox of any kind. */
export interface PythonCase {
  readonly name: string;
  /** Whether `npm test` runs it in Pyodide too. */
  readonly isBrief?: boolean;
  run(open: (options?: OpenPythonOptions) => Promise<OpenPython>): Promise<void>;
}

/** Calls that may wait for a session of the sandbox. */
export const QUEUE = 8;

const LOST = "[The session has ended: variables, imports and new files are lost. The next call starts a new session.]";

export const pythonCases: readonly PythonCase[] = [
  {
    name: "keeps state between calls, and episodes apart",
    run: async (open) => {
      const [one, other] = [await open(), await open()];
      expect(await one.call("import math\nx = 20\nopen('note', 'w').write('kept')")).toBe("4");
      expect(await one.call("print(open('note').read())\nmath.gcd(x, 15)")).toBe("kept\n5");
      expect(await other.call("'x' in globals()")).toBe("False");
      expect(await other.call("pass")).toBe("(no output)");
    },
  },

  {
    name: "returns output, errors of the code and the traceback of its lines",
    isBrief: true,
    run: async (open) => {
      const { call } = await open();
      expect(await call("import sys\nprint('out')\nprint('err', file=sys.stderr)\n[1] * 2")).toBe(
        "out\nstderr:\nerr\n[1, 1]",
      );
      expect(await call("print('before')\ndef f():\n    return 1 / 0\nf()")).toMatch(
        /^ERROR before\nTraceback [^]*line 3, in f\n[^]*ZeroDivisionError: /,
      );
      expect(await call("x = (")).toMatch(/^ERROR [^]*SyntaxError/);
      expect(await call("raise ValueError('x' * 9000)")).toMatch(/^ERROR [^]*\n\[\d+ characters left out\]\nx+$/);
      expect(await call("import sys\nsys.exit(3)")).toMatch(/^ERROR .*SystemExit: 3/s);
      expect(await call("'still here'")).toBe("'still here'");
    },
  },

  {
    name: "states limits of time and memory, keeps the output before them, and starts a new session",
    run: async (open) => {
      const { call } = await open({ limits: { wallMs: 1500, memoryBytes: 64 * 2 ** 20 } });
      const stopped = `ERROR start\n[The code was stopped after 1.5 s, the longest time of a call. ${LOST.slice(1)}`;
      expect(await call("x = 1\nprint('start')\nwhile True: pass")).toBe(stopped);
      expect(await call("'x' in globals()")).toBe("False");
      expect(await call("'a' * 10 ** 9")).toMatch(
        /^ERROR \[The code was stopped: it needs more than 64 MB of memory\. The session/,
      );
      expect(await call("1 + 1")).toBe("2");
    },
  },

  {
    name: "keeps the output before the limit of processor time",
    run: async (open) => {
      const { call } = await open({ limits: { cpuMs: 300 } });
      expect(await call("print('start')\nwhile True: pass")).toMatch(
        /^ERROR start\n\[The code was stopped after 300 ms of processor time/,
      );
    },
  },

  {
    name: "reports code that ends its interpreter as its own error",
    run: async (open) => {
      const { call } = await open();
      expect(await call("x = 1")).toBe("(no output)");
      expect(await call("print('last', flush=True)\nimport os\nos._exit(0)")).toBe(
        `ERROR last\n[The code exited. ${LOST.slice(1)}`,
      );
      expect(await call("'x' in globals()")).toBe("False");
    },
  },

  {
    name: "cuts long output and values, and states it",
    run: async (open) => {
      const { tool } = await open({ limits: { outputBytes: 1024 } });
      const { signal } = new AbortController();
      const { content, truncated } = await tool.call({ code: "print('é' * 10 ** 6)\n'v' * 10 ** 6" }, { signal });
      const text = content[0]?.type === "text" ? content[0].text : "";
      expect(text).toBe(
        `${"é".repeat(512)}\n[stdout was cut after 1 KiB]\n'${"v".repeat(1023)}\n[the value was cut after 1 KiB]`,
      );
      expect(truncated).toBe(true);
    },
  },

  {
    name: "reports the state that an idle session has lost",
    run: async (open) => {
      const { call } = await open({ idleMs: 100 });
      expect(await call("x = 1")).toBe("(no output)");
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(await call("'x' in globals()")).toBe(
        "[The state of earlier calls was lost: there was no call for too long. Variables, imports and new files are gone.]\nFalse",
      );
      expect(await call("1")).toBe("1");
    },
  },

  {
    name: "reports the state that a stopped call has lost",
    run: async (open) => {
      const { call } = await open();
      await call("x = 1");
      const controller = new AbortController();
      const running = call("while True: pass", { signal: controller.signal });
      setTimeout(() => controller.abort(), 100);
      await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
      expect(await call("'x' in globals()")).toMatch(
        /^\[The state of earlier calls was lost: its interpreter ended\. .*\nFalse$/,
      );
    },
  },

  {
    name: "has the files of the task, also those that are not text, in each session",
    run: async (open) => {
      const files = { "data/a.txt": "text\r\n", "b.bin": new Uint8Array([0xff, 0, 0xfe]), "c.txt": Buffer.from("é") };
      const { call } = await open({ files });
      const read =
        "open('data/a.txt', newline='').read(), open('b.bin', 'rb').read(), open('c.txt').read(), [n for n in globals() if n[0] == '_' and n[1] != '_']";
      expect(await call(read)).toBe(String.raw`('text\r\n', b'\xff\x00\xfe', 'é', [])`);
      await call("import os\nos._exit(1)");
      expect(await call(read)).toBe(String.raw`('text\r\n', b'\xff\x00\xfe', 'é', [])`);
    },
  },

  {
    name: "runs calls of one turn one after the other",
    run: async (open) => {
      const { call } = await open();
      const results = ["x = [1]", "x.append(2)", "x.append(3)", "x"].map((code) => call(code));
      expect(await Promise.all(results)).toEqual(["(no output)", "(no output)", "(no output)", "[1, 2, 3]"]);
    },
  },
  {
    name: "waits for a session outside of the time of a call, also behind another call of its turn",
    run: async (open) => {
      const [one, two, three] = [await open(), await open(), await open()];
      for (const holder of [one, two]) await holder.call("1");
      let waiting = 0;
      const queued: ToolCallOptions["queued"] = async (wait) => {
        waiting++;
        return wait().finally(() => waiting--);
      };
      const calls = ["x = 1", "x"].map((code) => three.call(code, { queued }));
      await new Promise(setImmediate);
      expect(waiting).toBe(2);
      await one.close();
      expect(await Promise.all(calls)).toEqual(["(no output)", "1"]);
      expect(waiting).toBe(0);
    },
  },
  {
    name: "leaves the queue at the end of its episode",
    run: async (open) => {
      const [one, two, three, four] = [await open(), await open(), await open(), await open()];
      for (const holder of [one, two]) await holder.call("1");
      const gone = three.call("1").catch((error: unknown) => error);
      const next = four.call("'next'");
      await three.close();
      expect(await gone).toMatchObject({ code: "CANCELLED" });
      await one.close();
      expect(await next).toBe("'next'");
    },
  },
  {
    name: "rejects a call beyond the queue, with what to do",
    run: async (open) => {
      const [one, two, ...others] = await Promise.all(Array.from({ length: 2 + QUEUE + 1 }, () => open()));
      for (const holder of [one, two]) await holder?.call("1");
      const waiting = others.slice(0, QUEUE).map((python) => python.call("1").catch(() => undefined));
      await expect(others.at(-1)?.call("1")).rejects.toMatchObject({
        code: "SANDBOX_FAILED",
        message: expect.stringMatching(
          /^All 2 sessions .* are in use, and 8 calls already wait\. Raise `sessions`, `session_queue` or/,
        ),
      });
      await Promise.all(others.map((python) => python.close()));
      await Promise.all(waiting);
    },
  },
];
