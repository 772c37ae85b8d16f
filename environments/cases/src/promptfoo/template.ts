import { isObject } from "@mrlm/kit";
import { invalidCase } from "../case.ts";

/** Variables of a test. */
export type Vars = Readonly<Record<string, unknown>>;

const SLOT = /\{\{-?\s*([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*-?\}\}/g;

/**
 * Renders a template of promptfoo: `{{name}}` and `{{name.member}}`. Throws DATA_INVALID for filters, blocks and expressions, for a variable that is missing
 * and for one that is no text, number or boolean.
 */
export function render(template: string, vars: Vars, place: string): string {
  const rest = template.replaceAll(SLOT, "");
  const other = /\{\{|\{%|\{#/.exec(rest);
  if (other !== null)
    throw invalidCase(
      place,
      `the template has \`${rest.slice(other.index, other.index + 24).trim()}\`, and only variables such as {{name}} can be read`,
      "Write the text of filters and blocks into a variable.",
    );
  return template.replaceAll(SLOT, (_, path: string) => {
    const value = path.split(".").reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), vars);
    if (["string", "number", "boolean"].includes(typeof value)) return String(value);
    throw invalidCase(
      place,
      `the template has {{${path}}}, which ${value === undefined || value === null ? "is no variable of the test" : "is no text, number or boolean"}`,
      "Add it to `vars` of the test, or of `defaultTest`.",
    );
  });
}
