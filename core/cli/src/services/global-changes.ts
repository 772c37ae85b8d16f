type Value = object | undefined;

/** Objects that all code of a process shares, by name. */
const SHARED: Readonly<Record<string, object>> = Object.fromEntries([
  ["globalThis", globalThis],
  ...[
    "Object",
    "Function",
    "Array",
    "String",
    "Number",
    "Boolean",
    "Promise",
    "Map",
    "Set",
    "Error",
    "RegExp",
    "Date",
  ].flatMap((name) => {
    const made = (globalThis as unknown as Record<string, { readonly prototype: object }>)[name];
    return made === undefined
      ? []
      : [
          [name, made],
          [`${name}.prototype`, made.prototype],
        ];
  }),
  ...(["Math", "JSON", "Reflect", "console"] as const).map((name) => [name, globalThis[name]]),
]) as Readonly<Record<string, object>>;

/** State of the process that code of plugins must leave as it is. */
export type GlobalState = ReadonlyMap<string, unknown>;

/** Records globals, shared prototypes, environment variables and the working directory. */
export function globalState(): GlobalState {
  const state = new Map<string, unknown>();
  for (const [name, object] of Object.entries(SHARED))
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      state.set(name === "globalThis" ? key : `${name}.${key}`, valueOf(descriptor));
  for (const [key, value] of Object.entries(process.env)) state.set(`process.env.${key}`, value);
  state.set("the working directory", process.cwd());
  return state;
}

/** Lists what was added, removed or replaced since then. */
export function globalChanges(before: GlobalState): string[] {
  const now = globalState();
  return [...new Set([...before.keys(), ...now.keys()])].filter((name) => {
    if (before.has(name) !== now.has(name)) return true;
    const was = before.get(name);
    // Node replaces some getters by their values when they are first read.
    return was !== LAZY && now.get(name) !== LAZY && !Object.is(was, now.get(name));
  });
}

const LAZY = Symbol("a getter");

function valueOf({ get, value }: PropertyDescriptor): Value | typeof LAZY {
  return get === undefined ? (value as Value) : LAZY;
}
