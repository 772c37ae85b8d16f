/** Returns a statement of `@mrlm/store` as Postgres reads it: parts that stand for one database alone are in comments. */
export function postgresSql(sql: string): string {
  return sql.replaceAll(/(?:\/\*sqlite\*\/(?:(?!\/\*)[^])*)?\/\*postgres ([^]*?)\*\//g, "$1");
}
