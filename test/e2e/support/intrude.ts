import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A unary call as another user makes it. */
export interface IntruderCall {
  readonly address: string;
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly body: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds to wait for an answer: 30,000 unless given. */
  readonly limitMs?: number;
}

/** Outcome of an attempt. */
export interface Intrusion {
  readonly uid: number;
  /** gRPC status of each call, or why there is none. */
  readonly answers: readonly { readonly status: string; readonly message: string; readonly bytes: string }[];
  /** Content of each file, or the code of the error. */
  readonly files: readonly string[];
}

/** The user `nobody`. */ // words: quoted
const OTHER = 65_534;
const SCRIPT = readFileSync(fileURLToPath(new URL("intruder.mjs", import.meta.url)), "utf8");

/** Reason why no process of another user can be started here; `undefined` where one can. */
export const noOtherUser: string | undefined =
  process.platform !== "linux" || process.getuid?.() !== 0
    ? "only root on Linux can start a process of another user"
    : start("{}", "0").status === 0
      ? undefined
      : "another user cannot run this Node";

/** Calls and reads as another user of this machine. */
export function intrude(calls: readonly IntruderCall[], files: readonly string[] = []): Intrusion {
  const wanted = {
    calls: calls.map((call) => ({
      headers: {},
      limitMs: 30_000,
      ...call,
      body: Buffer.from(call.body).toString("base64"),
    })),
    files,
  };
  const { stdout, stderr } = start(JSON.stringify(wanted), SCRIPT);
  if (stdout === "") throw new Error(`The intruder failed: ${stderr}`);
  return JSON.parse(stdout) as Intrusion;
}

function start(
  input: string,
  script: string,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    uid: OTHER,
    gid: OTHER,
    cwd: "/",
    env: {},
    input,
    encoding: "utf8",
  });
}
