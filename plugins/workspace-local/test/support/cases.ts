import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { LocalWorkspaces } from "@mrlm/sandbox";
import { missingJail } from "./missing-jail.ts";

/** Seed of what is drawn. FAULTS_SEED draws other cases. */
const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
export const MEGABYTE = 2 ** 20;
/** Cases at the same time: they wait more than they compute. */
const LANES = 4;

/** Returns the stream of random numbers of a class of cases. */
export const drawn = (name: string): ReturnType<typeof randomStream> => randomStream(`workspaces/${name}`, SEED);

/** Returns all combinations of the values of two or more axes. */
export function combined<const T extends readonly (readonly unknown[])[]>(
  ...axes: T
): { -readonly [A in keyof T]: T[A][number] }[] {
  const all = axes.reduce<unknown[][]>(
    (rows, axis) => rows.flatMap((row) => axis.map((value) => [...row, value])),
    [[]],
  );
  return all as { -readonly [A in keyof T]: T[A][number] }[];
}

/** Runs cases, some at a time, and expects that none has a complaint. Each case is named by what it combines. */
export async function none<T>(
  cases: readonly T[],
  complaint: (each: T, at: number) => Promise<string | undefined>,
): Promise<void> {
  const complaints: string[] = [];
  const rows = cases.entries();
  const lane = async (): Promise<void> => {
    for (const [at, each] of rows) {
      const found = await complaint(each, at).catch((error: unknown) => (error as Error).stack ?? String(error));
      if (found !== undefined) complaints.push(`${JSON.stringify(each)}: ${found}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(complaints).toEqual([]);
}

export const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

/** Files of the host that no workspace may see, and a provider of workspaces for the cases of a file. */
export interface Fixture {
  readonly host: string;
  workspaces: LocalWorkspaces;
}

/** Prepares a fixture, and checks afterwards that the files of the host are as before and that no process is left. */
export function fixtureOf(limits: Partial<LocalWorkspaces["limits"]> = {}): Fixture {
  const host = mkdtempSync(join(tmpdir(), "mrlm-host-"));
  const fixture = { host } as Fixture;
  beforeAll(async () => {
    writeFileSync(join(host, "marker"), "of the host");
    process.env["HOST_SECRET"] = "1";
    if (missingJail === undefined)
      fixture.workspaces = await LocalWorkspaces.make({
        limits: {
          ...{ timeoutMs: 30_000, cpuMs: 20_000, memoryBytes: 128 * MEGABYTE, processes: 64 },
          ...{ fileBytes: 4 * MEGABYTE, diskBytes: 16 * MEGABYTE, outputBytes: 16_384, ...limits },
        },
      });
  });
  afterAll(async () => {
    await fixture.workspaces?.close();
    const files = readdirSync(host).map((name) => [name, readFileSync(join(host, name), "utf8")]);
    rmSync(host, { recursive: true, force: true });
    expect(files).toEqual([["marker", "of the host"]]);
    await nothingLeft();
  });
  return fixture;
}

/** Waits until no process of this machine has the argument that commands of this process sleep for. */
export async function nothingLeft(): Promise<void> {
  while (leftProcesses().length > 0) await delay(20);
}

/** Seconds that commands of cases sleep. The fraction is that of this process alone. */
export const SLEEP = `600.${process.pid}`;

function leftProcesses(): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(`sleep\0${SLEEP}\0`);
    } catch {
      return false;
    }
  });
}
