/** Argument or result of a generated function, with the same form in JSON, Python and TypeScript. Numbers are integers within ±2^53. */
export type Value = number | string | boolean | readonly Value[] | { readonly [key: string]: Value };

/** Types of parameters and results, in both languages. */
export const TYPES = {
  int: { python: "int", typescript: "number" },
  str: { python: "str", typescript: "string" },
  ints: { python: "list[int]", typescript: "number[]" },
  strs: { python: "list[str]", typescript: "string[]" },
  rows: { python: "list[list[int]]", typescript: "number[][]" },
  counts: { python: "dict[str, int]", typescript: "Record<string, number>" },
} as const;
export type TypeName = keyof typeof TYPES;

/** Writes a value as Python code. */
export function pythonLiteral(value: Value): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return /['\\\p{C}]/u.test(value) ? JSON.stringify(value) : `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${pythonLiteral(key)}: ${pythonLiteral(member)}`)
    .join(", ")}}`;
}

/** Writes a value as TypeScript code. */
export function typescriptLiteral(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(typescriptLiteral).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return Object.keys(value).length === 0
    ? "{}"
    : `{ ${Object.entries(value)
        .map(([key, member]) => `${JSON.stringify(key)}: ${typescriptLiteral(member)}`)
        .join(", ")} }`;
}
