/**
 * Parts of statements that SQLite and Postgres write differently. One text holds both: a comment that begins with `postgres` is a part of the statement in
 * Postgres alone, and what stands between a comment `sqlite` and that comment is one in SQLite alone.
 */
export function either(sqlite: string, postgres: string): string {
  return `/*sqlite*/${sqlite}/*postgres ${postgres}*/`;
}

/**
 * Value at a place of a column of JSON, as text: an object is JSON, NULL stands for null.
 * @param keys SQL of the keys
 */
export function jsonText(column: string, ...keys: readonly string[]): string {
  const last = keys.length - 1;
  const path = keys.map((key, i) => `${i === last ? "->>" : "->"} ${key}`).join(" ");
  return `(${either(column, `as_json(${column})`)} ${path} /*postgres COLLATE "C"*/)`;
}

/** Number at a place of a column of JSON. Rewards and their components are finite; -0, which JSON does not have, is an object and becomes 0. */
export function jsonReal(column: string, ...keys: readonly string[]): string {
  const text = jsonText(column, ...keys);
  return `(CASE WHEN ${text} LIKE '{%' THEN 0.0 ELSE CAST(${text} AS DOUBLE PRECISION) END)`;
}

/** Whole number at a place of a column of JSON. */
export function jsonInteger(column: string, ...keys: readonly string[]): string {
  return `CAST(${jsonText(column, ...keys)} AS BIGINT)`;
}

/** JSON of a column, or of one of its members: text in SQLite, of type `json` in Postgres. NULL stands for null. */
export function jsonOf(column: string, member?: string): string {
  if (member === undefined) return either(column, `as_json(${column})`);
  return either(`${column} ->> ${member}`, `CAST(as_json(${column}) ->> ${member} AS JSON)`);
}
