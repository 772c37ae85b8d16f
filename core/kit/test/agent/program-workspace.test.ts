import { expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/kit";
import type { ExecOptions, ExecResult, Workspace } from "@mrlm/spec";
import { howEnded, ProgramWorkspace } from "../../src/agent/program-workspace.ts";

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const ended = (more: Partial<ExecResult> = {}): ExecResult => ({
  ...{ exitCode: 0, signal: null, stdout: bytes(""), stderr: bytes(""), timedOut: false, truncated: false },
  ...more,
});
type Exec = (options: ExecOptions) => Promise<ExecResult>;
const never = new AbortController().signal;

/** Runs until it is aborted. */
const endless: Exec = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new MrlmError("CANCELLED", "aborted"))));

/** Program in a workspace whose commands are functions. */
function space(forward: Exec, program: Exec, signal = never): ProgramWorkspace {
  const exec: Workspace["exec"] = (command, options = {}) =>
    command === "program" ? program(options) : forward(options);
  return new ProgramWorkspace({ exec } as Partial<Workspace> as Workspace, signal);
}

const forwarding: Exec = (options) => {
  options.onOutput?.(bytes("ready\n"), "stdout");
  return endless(options);
};

test("a program runs beside its address, which ends with it, and may run again", async () => {
  const program = space(forwarding, async () => ended({ exitCode: 3 }));
  for (let i = 0; i < 2; i++) {
    await program.connect();
    expect(await program.run("program")).toMatchObject({ exitCode: 3 });
  }
  const end = new AbortController();
  const aborted = space(forwarding, endless, end.signal);
  await aborted.connect();
  const running = aborted.run("program");
  end.abort();
  await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
  await aborted.ended();
});

test("an address that cannot be made is no fault of the program", async () => {
  const missing = space(async () => ended({ exitCode: 127 }), endless);
  await expect(missing.connect()).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
  const small = space(async () => ended({ exitCode: null, limit: "memory" }), endless);
  await expect(small.connect()).rejects.toMatchObject({
    code: "SANDBOX_FAILED",
    message: "The address of the model ended: it met the limit memory, without output.",
  });
});

test("an address that ends ends the program, unless the program has caused it", async () => {
  const end = Promise.withResolvers<ExecResult>();
  const forward: Exec = ({ onOutput }) => {
    onOutput?.(bytes("ready\n"), "stdout");
    return end.promise;
  };
  const lost = space(forward, endless);
  await lost.connect();
  const running = lost.run("program");
  end.resolve(ended({ exitCode: 1, stderr: bytes("broken\n") }));
  await expect(running).rejects.toMatchObject({ code: "SANDBOX_FAILED", message: expect.stringMatching(/broken/) });

  const flooded = Promise.withResolvers<ExecResult>();
  const flooding = space(forward, () => flooded.promise);
  end.promise = Promise.resolve(ended({ exitCode: null, limit: "cpu" }));
  await flooding.connect();
  setImmediate(() => flooded.resolve(ended({ exitCode: 1 })));
  expect(await flooding.run("program")).toMatchObject({ exitCode: 1 });
});

test("a workspace that is gone is no fault of the program", async () => {
  const gone: Exec = () => Promise.reject(new MrlmError("SESSION_NOT_FOUND", "The workspace is closed."));
  await expect(space(forwarding, gone).run("program")).rejects.toMatchObject({
    code: "SANDBOX_FAILED",
    message: "The workspace of a program failed: The workspace is closed.",
  });
});

test("the end of a command is described with the end of its output", () => {
  expect(howEnded(ended({ signal: "SIGKILL", exitCode: 137 }))).toBe("ended with SIGKILL, without output");
  expect(howEnded(ended({ timedOut: true, exitCode: null, stdout: bytes("a\n"), stderr: bytes("b") }))).toBe(
    "met the limit time. The end of its output: a\nb",
  );
});

test("a program that is ended has its own output in the error, not that of its address", async () => {
  const end = new AbortController();
  const aborted = (text: string, ms: number): Exec => {
    return ({ signal, onOutput }) => {
      onOutput?.(bytes("ready\n"), "stdout");
      return new Promise((_, reject) =>
        signal?.addEventListener("abort", () => setTimeout(() => reject(new MrlmError("CANCELLED", text)), ms)),
      );
    };
  };
  const program = space(aborted("of the address", 0), aborted("of the program", 20), end.signal);
  await program.connect();
  const running = program.run("program");
  end.abort();
  await expect(running).rejects.toThrow("of the program");
});

test("variables are those of the program alone", () => {
  const program = new ProgramWorkspace({} as Workspace, never, { A: "it's", PATH: "/x" });
  expect(program.withVariables("run")).toBe("export A='it'\\''s'\nexport PATH='/x'\nrun");
});

test("an address that a program has made impossible is its failure", async () => {
  let starts = 0;
  const forward: Exec = (options) => (starts++ === 0 ? forwarding(options) : Promise.resolve(ended({ exitCode: 1 })));
  const program = space(forward, async () => ended());
  await program.connect();
  await program.run("program");
  const error: unknown = await program.connect().catch((reason: unknown) => reason);
  expect([MrlmError.isInstance(error), (error as Error).message]).toEqual([
    false,
    "the program left no address of the model: it ended with exit code 1, without output",
  ]);
});
