import { parseArgs } from "node:util";
import { MrlmError } from "@mrlm/spec";
import { create, type CreateArguments } from "./create-command.ts";
import { KINDS } from "./templates.ts";

const HELP = `Usage: npm create mrlm@latest [KIND] [NAME] [-- OPTIONS]

Creates a project of mrlm: a package with sources, tests, and a configuration to train with.

Kinds:
${Object.entries(KINDS)
  .map(([kind, what]) => `  ${kind.padEnd(12)} ${what}`)
  .join("\n")}

Options:
  --from PATH  take the packages of mrlm from a clone in which \`npm run build\` has run, or from a folder of tarballs
  --merge      keep the files of a folder that is not empty, and add those that are missing
  --install    install the packages with the package manager that runs this command
  --help       print this text
`;

/** Runs `create-mrlm`. Returns the exit code: 0, 1 if the installation failed, 2 for wrong arguments, 130 for cancelled questions. */
export async function main(args: readonly string[], directory = process.cwd()): Promise<number> {
  try {
    const parsed = parse(args);
    if (parsed === "help") process.stdout.write(HELP);
    else process.stdout.write(`${(await create(parsed, directory)).report}\n`);
    return 0;
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    const { code, message, hint } = error;
    if (code === "CANCELLED") return 130;
    process.stderr.write(`error ${code}: ${message}\n${hint === "" ? "" : `  ${hint}\n`}`);
    return code === "INSTALL_FAILED" ? 1 : 2;
  }
}

function parse(args: readonly string[]): CreateArguments | "help" {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        from: { type: "string" },
        merge: { type: "boolean" },
        install: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    const { help, ...flags } = values;
    if (help === true) return "help";
    if (positionals.length > 2) throw new Error(`${positionals.length} arguments are more than a kind and a name`);
    const [first, second] = positionals;
    // One argument is a kind or a name: the other one is asked for.
    if (second !== undefined || (first !== undefined && Object.hasOwn(KINDS, first)))
      return { kind: first, name: second, ...flags };
    return { name: first, ...flags };
  } catch (error) {
    throw new MrlmError("USAGE", `${(error as Error).message.replace(/\.$/, "")}.`, {
      hint: "npm create mrlm@latest -- --help lists the arguments.",
    });
  }
}
