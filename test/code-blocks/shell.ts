import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CodeBlock, ROOT } from "./blocks.ts";

/** Programs that a page may run, which this repository does not define. */
const PROGRAMS = new Set(
  "apt-get bun cat chmod claude done for hf srun tail tensorboard cd cmake corepack cp curl cut docker echo export git grep grpcurl head jq kill kubectl ls make mkdir nice nvidia-smi openssl pip pip3 pnpm printf ps python python3 rm sbatch sed sqlite3 ssh sudo sysctl tar taskset tee time torchrun unset uv uvx vf-eval wget yarn".split(
    " ",
  ),
);

/** Flags of each command of `mrlm`, by the reference, which is generated from the program. */
const COMMANDS = commandsOf(readFileSync(join(ROOT, "docs/reference/cli.md"), "utf8"));

/** Returns what is wrong with the command lines of a block. */
export function shellFaults({ page, code }: CodeBlock): string[] {
  const folder = join(ROOT, page, "..");
  return commandLines(code).flatMap((words) => commandFaults(words, folder));
}

function commandsOf(reference: string): Map<string, ReadonlySet<string>> {
  const sections = reference
    .replaceAll("\n  ", " ")
    .split(/^## mrlm /m)
    .slice(1);
  return new Map(
    sections.map((section) => {
      // An entry describes one flag; the line of common flags lists several.
      const lines = Array.from(section.matchAll(/^(?:- |\[Common flags\].*?: )(`.*)$/gm), ([, line]) => line as string);
      const flags = lines.flatMap((line) => Array.from(line.matchAll(/(?:^|, )`(?:(-\w), )?(--[\w-]+)[^`]*`/g)));
      const names = flags.flatMap(([, short, long]) => [short, long]).filter((name) => name !== undefined);
      return [section.slice(0, section.indexOf("\n")), new Set([...names, "--json"])];
    }),
  );
}

/** Returns the commands of a block as words: comments, prompts, assignments and redirections are left out. */
function commandLines(code: string): string[][] {
  const joined = code.replaceAll(/\\\n\s*/g, " ").replaceAll(/<<-?\s*'?(\w+)'?\n[^]*?\n\1(?=\n|$)/g, "");
  return joined.split("\n").flatMap((line) => {
    const words = wordsOf(line.replace(/^\$ /, ""));
    const commands: string[][] = [[]];
    for (const word of words) {
      if (/^(&&|\|\||\||;|&)$/.test(word)) commands.push([]);
      else commands.at(-1)?.push(word.replace(/;$/, ""));
    }
    return commands
      .map((command) => command.slice(command.findIndex((word) => !/^\w+=/.test(word))))
      .filter((command) => command.length > 0 && !/^\w+=/.test(command[0] ?? ""));
  });
}

function wordsOf(line: string): string[] {
  const words = line.matchAll(/#.*$|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'#]|(?<=\S)#)+/g);
  return Array.from(words, ([word]) => word).filter((word) => !word.startsWith("#"));
}

function commandFaults(words: readonly string[], folder: string): string[] {
  const [program = "", ...args] = words;
  if (program === "npx") return npxFaults(args, folder);
  if (program === "mrlm") return mrlmFaults(args);
  if (program === "npm") return npmFaults(args, folder);
  if (program === "node")
    return fileFaults(
      args.find((word) => !word.startsWith("-")),
      folder,
    );
  return PROGRAMS.has(program) || /^"?[./~$]|^venv\/bin\//.test(program) ? [] : [`unknown program ${program}`];
}

function npxFaults(args: readonly string[], folder: string): string[] {
  const [first = "", ...rest] =
    args[0] === "--prefix" ? args.slice(2) : args.filter((word) => word !== "-y" && word !== "--no");
  if (first === "mrlm") return mrlmFaults(rest);
  if (first === "node")
    return fileFaults(
      rest.find((word) => !word.startsWith("-")),
      folder,
    );
  return /^(tsc|jest|oxlint|oxfmt|publint|attw|mcp-remote|@[\w-]+\/[\w-]+)/.test(first)
    ? []
    : [`npx ${first}: unknown`];
}

function mrlmFaults(args: readonly string[]): string[] {
  const bare = args.filter((word) => word !== "--json");
  const name = [bare.slice(0, 2).join(" "), bare[0] ?? ""].find((each) => COMMANDS.has(each));
  if (name === undefined)
    return bare.length === 0 || /^(--version|--help|-V|COMMAND)$/.test(bare[0] ?? "")
      ? []
      : [`mrlm has no command ${bare[0]}`];
  const known = COMMANDS.get(name);
  const flags = args.flatMap((word) => /^--?[a-z][\w-]*/.exec(word)?.[0] ?? []);
  return flags
    .filter((flag) => flag !== "--help" && known?.has(flag) !== true)
    .map((flag) => `mrlm ${name} has no flag ${flag}`);
}

function npmFaults(args: readonly string[], folder: string): string[] {
  const [first, name = ""] = args.filter((word) => !word.startsWith("-"));
  if (first !== "run" && first !== "test") return [];
  const script = first === "test" ? "test" : name;
  const manifests = [
    join(folder, "package.json"),
    join(folder, "_package.json"),
    join(ROOT, "package.json"),
    join(ROOT, "templates/environment/_package.json"),
  ];
  const isKnown = manifests.some(
    (path) =>
      existsSync(path) &&
      Object.hasOwn((JSON.parse(readFileSync(path, "utf8")) as { scripts?: object }).scripts ?? {}, script),
  );
  return isKnown ? [] : [`no package.json has the script ${script}`];
}

function fileFaults(path: string | undefined, folder: string): string[] {
  if (path === undefined || /^[A-Z]|[*'"$]/.test(path)) return [];
  return [ROOT, folder].some((base) => existsSync(join(base, path))) ? [] : [`there is no file ${path}`];
}
