import { type View, VIEWS } from "../src/views.ts";

const INTRODUCTION = `# Episode store

A run keeps its episodes in one SQLite file, \`episodes.sqlite\`, or in [a schema of Postgres](../guides/postgres.md). These views are its
public interface in both, and have the same rows; its tables may change. Read them with \`mrlm query RUN "select ..."\` or any program that reads the database.
[Querying a run](../guides/training.md#querying-a-run) has examples.

Columns of type \`json\` hold JSON: \`components ->> 'correct'\` is a member of it, \`info -> 'items' -> 0 ->> 'name'\` one at a place below. In a file they are text, in Postgres of type
\`json\`, which has no order: group by its members. In JSON, bytes of an image are \`{"$bytes": base64}\`. Texts of Postgres have no character U+0000: the tables write it, U+0001 and
halves of pairs as U+0001 and four digits, and \`mrlm query\` returns the characters.
`;

/** Returns the content of docs/reference/store.md: a section for each view. */
export function storeReference(): string {
  return [INTRODUCTION, ...VIEWS.map(section)].join("\n");
}

function section({ name, meaning, columns }: View): string {
  const rows = columns.map((column) => `| \`${column.name}\` | ${column.type} | ${column.meaning} |`);
  return `## ${name}\n\n${meaning}\n\n| column | type | |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
}
