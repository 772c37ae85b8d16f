import type { Command } from "commander";
import { createProgram, leaves } from "../src/program.ts";

const INTRODUCTION = `# Commands

In a project that has \`@mrlm/cli\`, and in a clone of this repository, commands are run as \`npx mrlm COMMAND\`. \`mrlm --help\` and \`mrlm COMMAND --help\` print
the text of this page. Results go to stdout, everything else to stderr; progress is drawn in place on a terminal, and printed as a line every 15 seconds elsewhere.
With \`--json\` stdout holds one JSON object a line and nothing else. \`mrlm --version\` prints the version.

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

/** Returns the content of docs/reference/cli.md: a section for each command, with its flags. */
export function commandReference(): string {
  return [INTRODUCTION, ...leaves(createProgram(() => undefined).command).map(section)].join("\n");
}

function section(command: Command): string {
  const rows = command.options.map(({ flags, description, mandatory, defaultValue }) => {
    const notes = [
      mandatory ? "**required**. " : "",
      description,
      defaultValue === undefined ? "" : ` (default \`${String(defaultValue)}\`)`,
    ];
    return `| \`${flags}\` | ${notes.join("")} |`;
  });
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
    "| flag | |",
    "| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
