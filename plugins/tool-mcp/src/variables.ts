/** Variable that holds the folder of the episode's files, for servers with a process per episode. */
export const EPISODE_DIRECTORY = "MRLM_EPISODE_DIR";

/** `${NAME}`, `${NAME:-default}` or `${env:NAME}`: the forms that MCP clients share. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Variables whose values name folders and people, and are no secrets. */
const PUBLIC = new Set([
  EPISODE_DIRECTORY,
  "HOME",
  "LANG",
  "LOGNAME",
  "PATH",
  "PWD",
  "SHELL",
  "TERM",
  "TMPDIR",
  "USER",
]);

/** Shorter values (`1`, `true`) occur in any text: to hide them would only damage results. */
const SHORTEST_SECRET = 5;

/** Names of values that are secrets by convention: `API_KEY`, `Authorization`, `--token`. */
const SECRET_NAME = /token(?!s|iz)|secret|passw|api[-_]?key|authorization|credential|cookie|private[-_]?key/i;

/** Values of variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Replaces the variables in a text by their values or defaults. */
export function expand(text: string, values: Variables): string {
  return text.replace(VARIABLE, (whole, name: string, fallback?: string) => values[name] ?? fallback ?? whole);
}

/** Returns the variables of a text that have neither a value nor a default. */
export function missingVariables(text: string, values: Variables): string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name = "", fallback]) =>
    fallback === undefined && name !== EPISODE_DIRECTORY && values[name] === undefined ? [name] : [],
  );
}

export function uses(text: string, variable: string): boolean {
  return [...text.matchAll(VARIABLE)].some(([, name]) => name === variable);
}

/** Returns a `${...}` of a text that is of none of the known forms, such as `${input:token}`; `undefined` if there is none. */
export function unknownForm(text: string): string | undefined {
  return /\$\{[^}]*\}?/.exec(text.replace(VARIABLE, ""))?.[0];
}

/** Names of authentication schemes, which stand before a secret: `Bearer ${TOKEN}`. */
const SCHEME = /^(?:Basic|Bearer|Digest|Token|ApiKey)$/i;

/** Whether a value of this name is a secret that stands in the configuration itself, which is copied into each run. A default of a variable stands there too. */
export function isLiteralSecret(name: string, value: string): boolean {
  if (
    [...value.matchAll(VARIABLE)].some(
      ([, variable = "", fallback = ""]) => fallback !== "" && isSecret(name, variable),
    )
  )
    return true;
  // `session=${COOKIE}`: a name and its value.
  const literals = value
    .replace(/[\w.-]+[=:]\s*(?=\$\{)/g, "")
    .replace(VARIABLE, " ")
    .split(/[\s;,]+/);
  return SECRET_NAME.test(name) && literals.some((literal) => literal !== "" && !SCHEME.test(literal));
}

function isSecret(...names: readonly string[]): boolean {
  return names.some((name) => SECRET_NAME.test(name));
}

/** Whether the query or the user information of a URL has a secret. Its variables are not yet replaced. */
export function hasLiteralSecret(url: string): boolean {
  const parameters = [...url.matchAll(/[?&#]([^=&#]+)=([^&#]*)/g)];
  const userInfo = /^[a-z+]+:\/\/[^/?#@]*?:([^/?#@]*)@/i.exec(url)?.[1] ?? "";
  return (
    parameters.some(([, name = "", value = ""]) => isLiteralSecret(name, value)) ||
    isLiteralSecret("password", userInfo)
  );
}

/** Hides secrets in a text. */
export type Redact = (text: string) => string;

/** Returns a function that replaces the value of each variable of these texts by `[NAME]`, also where the value is encoded. */
export function redactorOf(texts: readonly string[], values: Variables): Redact {
  const hidden = new Map<string, string>();
  for (const [, name = ""] of texts.flatMap((text) => [...text.matchAll(VARIABLE)])) {
    const value = values[name];
    if (value === undefined || PUBLIC.has(name) || value.length < SHORTEST_SECRET) continue;
    const bytes = Buffer.from(value);
    const encoded = [JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
    for (const form of [value, ...encoded, bytes.toString("base64"), bytes.toString("base64url")])
      hidden.set(form, `[${name}]`);
  }
  // Longest first: one value may contain another.
  const forms = [...hidden].toSorted(([a], [b]) => b.length - a.length);
  return (text) =>
    forms.reduce((rest, [form, name]) => (rest.includes(form) ? rest.replaceAll(form, name) : rest), text);
}
