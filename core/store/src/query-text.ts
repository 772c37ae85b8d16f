import { MrlmError } from "@mrlm/spec";

/** Returns the SQL without comments, blanks before its first word, and separators at its end. */
export function withoutComments(sql: string): string {
  return sql.replaceAll(/--[^\n]*(\n|$)|\/\*[^]*?\*\//g, " ").replaceAll(/^[\s;]+|[\s;]+$/g, "");
}

/** Names of the columns of a result, with a number where one occurs again. */
export function uniqueNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}

export function invalidQuery(message: string, hint: string, cause?: unknown): MrlmError {
  return new MrlmError("QUERY_INVALID", message, { hint, cause });
}
