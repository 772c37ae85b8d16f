import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run, userEnvironment } from "../../test/lifecycle/support/program.ts";
import type { Tarballs } from "./tarballs.ts";

/** Start-ups of each measurement, whose median counts. */
const STARTS = 9;

const env = userEnvironment();
const npm = (directory: string, ...args: string[]): Promise<string> => run("npm", args, directory, env);

/** Measures from `create` to a passing check, with npm's cache warm from a first project. */
export async function createFigures({ folder: packed }: Tarballs, folder: string): Promise<Record<string, number>> {
  const create = (name: string): Promise<string> =>
    run(
      process.execPath,
      [join(ROOT, "core/create/bin/create-mrlm.js"), "environment", name, "--from", packed],
      folder,
      env,
    );
  await create("warm");
  await npm(join(folder, "warm"), "install");
  const started = performance.now();
  await create("measured");
  const project = join(folder, "measured");
  await npm(project, "install");
  await npm(project, "run", "build");
  const built = performance.now();
  await run(join(project, "node_modules/.bin/mrlm"), ["check"], project, env);
  return { create_to_check_s: secondsSince(started), check_s: secondsSince(built) };
}

/** Measures the installation of `@mrlm/testing` into an empty project, with a warm cache. */
export async function installFigures(tarballs: Tarballs, folder: string): Promise<Record<string, number>> {
  await npm(projectWith(["@mrlm/testing"], tarballs, join(folder, "testing-warm")), "install");
  const project = projectWith(["@mrlm/testing"], tarballs, join(folder, "testing"));
  const started = performance.now();
  await npm(project, "install");
  const seconds = secondsSince(started);
  const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as { packages: object };
  const kib = (await run("du", ["-sk", "node_modules"], project, env)).split("\t")[0];
  return {
    install_s: seconds,
    install_packages: Object.keys(packages).filter((path) => path !== "").length,
    install_mib: round(Number(kib) / 1024),
  };
}

/** Measures imports and the start of the command as installed packages, in processes of their own. */
export async function startFigures(tarballs: Tarballs, folder: string): Promise<Record<string, number>> {
  const project = projectWith(["@mrlm/spec", "@mrlm/kit", "@mrlm/cli", "zod"], tarballs, join(folder, "start"));
  await npm(project, "install");
  const importMs = async (name: string): Promise<number> => {
    const code = `const start = performance.now(); await import(${JSON.stringify(name)}); console.log(performance.now() - start);`;
    return Number(await run(process.execPath, ["--input-type=module", "--eval", code], project, env));
  };
  const helpMs = async (): Promise<number> => {
    const started = performance.now();
    await run(process.execPath, [join(project, "node_modules/@mrlm/cli/bin/mrlm.js"), "--help"], project, env);
    return performance.now() - started;
  };
  return {
    spec_import_ms: await median(() => importMs("@mrlm/spec")),
    kit_import_ms: await median(() => importMs("@mrlm/kit")),
    help_ms: await median(helpMs),
  };
}

/** Writes a project that depends on packages of the repository, and returns its folder. */
function projectWith(names: readonly string[], { addresses }: Tarballs, folder: string): string {
  mkdirSync(folder);
  const dependencies = Object.fromEntries(names.map((name) => [name, addresses[name] ?? "*"]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies, overrides: addresses }));
  return folder;
}

async function median(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let i = 0; i < STARTS; i++) values.push(await measure());
  return round(values.toSorted((one, other) => one - other)[Math.floor(STARTS / 2)] as number);
}

const secondsSince = (started: number): number => round((performance.now() - started) / 1000);
const round = (value: number): number => Math.round(value * 10) / 10;
