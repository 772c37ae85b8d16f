import { type View, VIEWS } from "../src/views.ts";

const INTRODUCTION = `# Episode store

A run keeps its episodes in one SQLite file, \`episodes.sqlite\`. These views are its public interface; its tables may change. Read them with
\`mrlm query RUN "select ..."\` or any program that reads SQLite. [Querying a run](../guides/training.md#querying-a-run) has examples.

Columns of type \`json\` hold JSON as text: \`components ->> '$.correct'\` is a member of it. In JSON, bytes of an image are \`{"$bytes": base64}\`.
`;

/** Returns the content of docs/reference/store.md: a section for each view. */
export function storeReference(): string {
  return [INTRODUCTION, ...VIEWS.map(section)].join("\n");
}

function section({ name, meaning, columns }: View): string {
  const rows = columns.map((column) => `| \`${column.name}\` | ${column.type} | ${column.meaning} |`);
  return `## ${name}\n\n${meaning}\n\n| column | type | |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
}
