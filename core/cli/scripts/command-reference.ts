import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { createProgram, leaves } from "../src/program.ts";

const INTRODUCTION = `# Commands

In a project that has \`@mrlm/cli\`, and in a clone of this repository, run commands as \`npx mrlm COMMAND\`. \`mrlm --help\` and \`mrlm COMMAND --help\` print
the text of this page. Results go to stdout, everything else to stderr; progress is drawn in place on a terminal, and printed as a line every 15 seconds elsewhere.
With \`--json\`, a flag of every command, stdout holds one JSON object a line and nothing else. \`mrlm --version\` prints the version.

## Exit codes

| code | |
| --- | --- |
| 0 | done; for \`serve\` also: ended by Ctrl-C or SIGTERM after finishing what was under way; for \`join\`: the run has ended well, or was stopped on machine 0 |
| 1 | something failed during the work |
| 2 | the command line, a configuration, or what it names was wrong: no work began |
| 3 | the engine is not set up, lacks a part, or did not start |
| 4 | \`check\` reported an error or a warning that is not acknowledged; \`doctor\` found a problem; a run that failed is one (hints alone are 0) |
| 130 | ended by Ctrl-C or SIGTERM, after draining (once) or at once (twice) |

An error's line begins with \`error CODE:\`; [errors](errors.md) has every code.
`;

/** Returns the content of docs/reference/cli.md: the flags that several commands share, and a section for each command. */
export function commandReference(): string {
  const commands = leaves(createProgram(() => undefined));
  const rows = commands.flatMap(({ options }) => options.map(rowOf));
  const shared = [...new Set(rows)].filter((row) => rows.filter((other) => other === row).length > 2);
  const common = shared.filter((row) => !row.startsWith("- `--json`"));
  return [
    INTRODUCTION,
    `## Common flags\n\n${common.map(wrapped).join("\n")}\n`,
    ...commands.map((command) => section(command, new Set(shared))),
  ].join("\n");
}

function rowOf({ flags, description, mandatory, defaultValue }: Option): string {
  const notes = [
    mandatory ? "**required**. " : "",
    description,
    defaultValue === undefined ? "" : ` (default \`${String(defaultValue)}\`)`,
  ];
  return `- \`${flags}\`: ${notes.join("")}`;
}

const wrapped = (row: string): string => row.replaceAll(/(.{150,200}) (?=.{40})/g, "$1\n  ");

function section(command: CommandUnknownOpts, shared: ReadonlySet<string>): string {
  const all = command.options.filter(({ long }) => long !== "--json");
  const rows = all.map(rowOf).filter((row) => !shared.has(row));
  const common = all.filter((option) => shared.has(rowOf(option)));
  const given = command.registeredArguments.map(
    (argument) =>
      `\`${argument.required ? `<${argument.name()}>` : `[${argument.name()}]`}\`: ${argument.description}.\n`,
  );
  return [
    `## ${nameOf(command)}`,
    "",
    `${command.description()}.`,
    "",
    ...given,
    ...(rows.length > 0 ? [...rows.map(wrapped), ""] : []),
    ...(common.length > 0
      ? [wrapped(`[Common flags](#common-flags): ${common.map(({ flags }) => `\`${flags}\``).join(", ")}.`), ""]
      : []),
  ].join("\n");
}

function nameOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
