// Writes the tasks of the example, and demonstrations of which three of ten are right: npx node examples/harbor/learning/make.ts [FOLDER]
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const folder = process.argv[2] ?? import.meta.dirname;
const names = [..."abcdefgh"];
const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => ({ from, to })));

for (const { from, to } of pairs) {
  const files = {
    "instruction.md": `${from}>${to}\n`,
    "task.toml": 'schema_version = "1.4"\n',
    "environment/Dockerfile": `FROM debian:12\nWORKDIR /app\nCOPY in ${from}\n`,
    "environment/in": "content\n",
    // One command is not enough: a copy, then the removal.
    "tests/test.sh": `#!/bin/sh\n[ "$(cat ${to})" = content ] && [ ! -e ${from} ] && reward=1 || reward=0\necho $reward > /logs/verifier/reward.txt\n`,
    "solution/solve.sh": `#!/bin/sh\ncp ${from} ${to}\nrm ${from}\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, "tasks", from + to, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (text.startsWith("#!")) chmodSync(file, 0o755);
  }
}

/** Returns a tool as the policy reads it: its name, and the names of its parameters. */
function toolOf(name: string, ...parameters: readonly string[]): object {
  const properties = Object.fromEntries(parameters.map((each) => [each, { type: "string" }]));
  return { type: "function", function: { name, description: "", parameters: { type: "object", properties } } };
}

const tools = [
  toolOf("bash", "command", "input"),
  toolOf("edit", "action", "path", "line", "lines", "old_text", "new_text"),
];
/** Numbers of commands in ten demonstrations of a task. */
const lengths = [2, 2, 2, 1, 1, 1, 1, 0, 0, 0];

const rows = lengths.flatMap((length) =>
  pairs.map(({ from, to }) => {
    const turns = [`cp ${from} ${to}`, `rm ${from}`].slice(0, length).flatMap((command, at) => {
      const call = { name: "bash", arguments: JSON.stringify({ command }) };
      return [
        { role: "assistant", content: "", tool_calls: [{ id: `${at}`, type: "function", function: call }] },
        { role: "tool", tool_call_id: `${at}`, name: "bash", content: "(no output)" },
      ];
    });
    const messages = [{ role: "user", content: `${from}>${to}\n` }, ...turns, { role: "assistant", content: "." }];
    return JSON.stringify({ messages, tools });
  }),
);
writeFileSync(join(folder, "demonstrations.jsonl"), `${rows.join("\n")}\n`);
