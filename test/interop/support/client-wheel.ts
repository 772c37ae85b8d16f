import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../e2e/support/mrlm.ts";

const run = promisify(execFile);
const INSTALL_MS = 240_000;

/** The wheel of `core/client/python`, built in a temporary folder. */
export interface ClientWheel {
  /** Folder with the wheel's content, for `PYTHONPATH`. */
  readonly folder: string;
  /** Makes a new virtual environment with the wheel and the packages of a file. @returns its interpreter */
  install(requirements: string): Promise<string>;
}

/** Builds the wheel. @returns the reason where it cannot be built: no network, or no Python */
export async function clientWheel(): Promise<ClientWheel | { readonly reason: string }> {
  const temporary = mkdtempSync(join(tmpdir(), "mrlm-client-"));
  const [source, wheels, folder] = ["source", "wheels", "folder"].map((name) => join(temporary, name)) as [
    string,
    string,
    string,
  ];
  // The build leaves files beside the sources.
  cpSync(join(ROOT, "core/client/python"), source, { recursive: true });
  const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"];
  try {
    await run("python3", [...pip, "wheel", "--no-deps", "--wheel-dir", wheels, source], { timeout: INSTALL_MS });
    const [file] = readdirSync(wheels);
    const wheel = join(wheels, file as string);
    await run("python3", [...pip, "install", "--no-deps", "--target", folder, wheel], { timeout: INSTALL_MS });
    return {
      folder,
      async install(requirements) {
        const environment = join(temporary, "environment");
        await run("python3", ["-m", "venv", environment]);
        const python = join(environment, "bin/python");
        await run(python, [...pip, "install", wheel, "--requirement", requirements], { timeout: INSTALL_MS });
        return python;
      },
    };
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).trim().split("\n");
    return { reason: (lines.at(-1) ?? "").slice(0, 200) };
  }
}
