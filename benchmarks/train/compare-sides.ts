/** Steps of ours, of TRL and of a bare loop, in turn, because a machine's speed drifts. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Measurement, pooled } from "./measurement.ts";
import { measureOurs, type Workload } from "./ours.ts";
import { measurePeer } from "./peer.ts";

/** Measurements of one workload. PPO has no peers. */
export interface Row {
  readonly ours: Measurement;
  readonly trl?: Measurement;
  readonly bare?: Measurement;
}

export async function compareSides(
  python: string,
  fixture: string,
  workloads: readonly Workload[],
  rounds: number,
  steps: number,
  warmup: number,
): Promise<Record<string, Row>> {
  const rows: Record<string, Row> = {};
  for (const workload of workloads) {
    const sides: { ours: Measurement[]; trl: Measurement[]; bare: Measurement[] } = { ours: [], trl: [], bare: [] };
    const add = (side: keyof typeof sides, measured: Measurement): void => {
      sides[side].push(measured);
      const { cpu_s_per_step: cpu, wall_s_per_step: wall } = measured;
      console.error(`${workload.name}: ${side} ${cpu.toFixed(2)} CPU-s, ${wall.toFixed(2)} s a step`);
    };
    for (let round = 0; round < rounds; round++) {
      console.error(`${workload.name}: round ${round + 1} of ${rounds}`);
      add("ours", await measureOurs(fixture, workload, steps, warmup));
      if (workload.algorithm === "ppo") continue;
      add("trl", measurePeer(python, "trl", fixture, workload, steps, warmup));
      add("bare", measurePeer(python, "bare", fixture, workload, steps, warmup));
    }
    rows[workload.name] = {
      ours: pooled(sides.ours),
      ...(sides.trl.length > 0 && { trl: pooled(sides.trl), bare: pooled(sides.bare) }),
    };
  }
  return rows;
}

/** Returns the Python of the engine, which is set up where it is missing. */
export function enginePython(): string {
  const mrlm = fileURLToPath(new URL("../../core/cli/bin/mrlm.js", import.meta.url));
  const setup = execFileSync(process.execPath, [mrlm, "engine", "setup", "--json"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return (JSON.parse(setup.trim().split("\n").at(-1) as string) as { executable: string }).executable;
}

/** Returns the CPU and wall seconds of a step, and the memory, of each side, by names of figures. */
export function secondsOf(rows: Readonly<Record<string, Row>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, sides]) =>
      Object.entries(sides).flatMap(([side, measured]) =>
        (
          [
            ["cpu_s", measured.cpu_s_per_step],
            ["wall_s", measured.wall_s_per_step],
            ["memory_mib", measured.memory_mib],
          ] as const
        ).map(([unit, value]) => [`${name.replaceAll("-", "_")}_${side}_${unit}`, Number(value.toPrecision(4))]),
      ),
    ),
  );
}

export function printRows(rows: Readonly<Record<string, Row>>): void {
  const shown = (measured: Measurement | undefined): string =>
    measured === undefined ? "" : `${measured.cpu_s_per_step.toFixed(2)} / ${measured.wall_s_per_step.toFixed(2)}`;
  console.table(
    Object.entries(rows).map(([name, { ours, trl, bare }]) => ({
      step: name,
      "ours CPU / wall s": shown(ours),
      TRL: shown(trl),
      "bare PyTorch": shown(bare),
      "ours / TRL (CPU)": trl === undefined ? "" : (ours.cpu_s_per_step / trl.cpu_s_per_step).toFixed(2),
    })),
  );
}
