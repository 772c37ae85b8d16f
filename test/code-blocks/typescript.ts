import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type CodeBlock, ROOT } from "./blocks.ts";

/** Returns whether one source file of the repository has the lines of the block in their order. `...` stands for any text; comments are left out. */
export function isOfFile({ code }: CodeBlock): boolean {
  const lines = code
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && line !== "..." && !line.startsWith("//"));
  return lines.length > 0 && sources().some((file) => hasInOrder(file, lines));
}

function hasInOrder(file: readonly string[], lines: readonly string[]): boolean {
  let at = 0;
  return lines.every((line) => {
    const pattern = line.includes("...") ? elided(line) : undefined;
    const found = file.findIndex((other, i) => i >= at && (other === line || pattern?.test(other) === true));
    at = found + 1;
    return found >= 0;
  });
}

function elided(line: string): RegExp {
  const parts = line.split("...").map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}`);
}

let read: (readonly string[])[] | undefined;

function sources(): readonly (readonly string[])[] {
  const files = execFileSync("git", ["ls-files", "*.ts"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  return (read ??= files
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) =>
      readFileSync(join(ROOT, path), "utf8")
        .split("\n")
        .map((line) => line.trim()),
    ));
}

/** Compiles blocks in one run of tsc. Returns the errors with the place of each in its page. */
export async function compileFaults(blocks: readonly CodeBlock[]): Promise<string[]> {
  const folder = join(ROOT, "node_modules", ".cache", "mrlm", "code-blocks");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const before = blocks.map(
    ({ surroundings = "BLOCK" }) => surroundings.slice(0, surroundings.indexOf("BLOCK")).split("\n").length - 1,
  );
  blocks.forEach(({ code, surroundings = "BLOCK" }, i) =>
    writeFileSync(join(folder, `${i}.ts`), `${surroundings.replace("BLOCK", () => code)}\nexport {};\n`),
  );
  const options = {
    extends: join(ROOT, "tsconfig.base.json"),
    compilerOptions: {
      ...{
        noEmit: true,
        emitDeclarationOnly: false,
        composite: false,
        incremental: false,
        declaration: false,
        noUnusedLocals: false,
        noUnusedParameters: false,
      },
      customConditions: ["mrlm-source"],
      allowImportingTsExtensions: true,
      types: ["node"],
    },
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const output = await promisify(execFile)(process.execPath, [tsc, "--project", folder, "--pretty", "false"], {
    cwd: folder,
    maxBuffer: 2 ** 24,
  }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  return output.split("\n").flatMap((line) => {
    const [, file, at, message] = /^(\d+)\.ts\((\d+),\d+\): (.*)$/.exec(line) ?? [];
    if (file === undefined) return line.includes("error") ? [line] : [];
    const { page, line: start } = blocks[Number(file)] as CodeBlock;
    return [`${page}:${start + Number(at) - 1 - (before[Number(file)] ?? 0)} ${message}`];
  });
}
