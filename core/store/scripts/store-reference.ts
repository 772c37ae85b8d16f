import { type View, type ViewColumn, VIEWS } from "../src/views.ts";

const INTRODUCTION = `# Episode store

A run keeps its episodes in one SQLite file, \`episodes.sqlite\`, or in [a schema of Postgres](../operate/postgres.md). These views are its
public interface in both, and have the same rows; its tables may change. Read them with \`mrlm query RUN "select ..."\` or any program that reads the database.
[Querying a run](../train/training.md#querying-a-run) has examples.

Columns of type \`json\`: \`components ->> 'correct'\` is a member, \`info -> 'items' -> 0 ->> 'name'\` one below. In a file they are text, in Postgres of type
\`json\`, which has no order: group by its members. Bytes of an image are \`{"$bytes": base64}\`. Tables of Postgres write U+0000, U+0001 and
halves of pairs as U+0001 and four digits; \`mrlm query\` returns the characters.
`;

/** Returns the content of docs/reference/store.md: a section for each view. */
export function storeReference(): string {
  return [INTRODUCTION, ...VIEWS.map(section)].join("\n");
}

/** Columns that an earlier view has too are named without their meaning. */
function section({ name, meaning, columns }: View, index: number): string {
  const earlier = VIEWS.slice(0, index);
  const sourceOf = ({ name: column, type, meaning: text }: ViewColumn): string | undefined =>
    earlier.find((view) => view.columns.some((one) => one.name === column && one.type === type && one.meaning === text))
      ?.name;
  const rows = columns
    .filter((column) => sourceOf(column) === undefined)
    .map((column) => `- \`${column.name}\` (${column.type}): ${column.meaning}`);
  const shared = earlier.flatMap((view) => {
    const names = columns.filter((column) => sourceOf(column) === view.name).map((column) => `\`${column.name}\``);
    const isAll = names.length === view.columns.length;
    return names.length === 0
      ? []
      : [`As in [${view.name}](#${view.name}): ${isAll ? "all of its columns" : names.join(", ")}.`];
  });
  const own = rows.length === 0 ? [] : [rows.join("\n")];
  return `## ${name}\n\n${[meaning, ...shared, ...own].join("\n\n")}\n`;
}
