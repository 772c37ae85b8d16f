import type { Dialect, Route } from "./dialect.ts";
import { environmentIn } from "./environment-name.ts";

/** Route that fits the path of a request. */
export interface Match {
  readonly dialect: Dialect;
  readonly route: Route;
  readonly environment: string | undefined;
  readonly params: Readonly<Record<string, string>>;
}

interface Entry {
  readonly dialect: Dialect;
  readonly route: Route;
  readonly parts: readonly string[];
}

/** Prefix that NeMo Gym puts before a path when it observes rollouts. */
const PREFIX = /^\/ng-rollout\/[^/]+\//;

/** Routes of all dialects of a port. */
export class Router {
  readonly #environments: readonly string[];
  readonly #fixed = new Map<string, Entry[]>();
  readonly #patterns: Entry[] = [];

  constructor(dialects: readonly Dialect[], environments: readonly string[]) {
    this.#environments = environments;
    for (const dialect of dialects)
      for (const route of dialect.routes) {
        const entry = { dialect, route, parts: route.path.slice(1).split("/") };
        const before = this.#fixed.get(route.path) ?? [];
        if (route.path.includes("{")) this.#patterns.push(entry);
        // A route for some of the requests goes before one for all.
        else this.#fixed.set(route.path, route.accepts === undefined ? [...before, entry] : [entry, ...before]);
      }
  }

  /** Returns the routes for a path, of all methods. The path as a whole goes before its rest after the name of an environment, and routes without variable parts before others. */
  find(path: string): Match[] {
    const parts = path
      .replace(PREFIX, "/")
      .replace(/(.)\/$/, "$1")
      .slice(1)
      .split("/");
    const [only, ...others] = this.#environments;
    const alone = others.length === 0 ? only : undefined;
    const [first = "", ...rest] = parts;
    const named = decode(first);
    const environment = named === undefined ? undefined : environmentIn(this.#environments, named);
    const bare = this.#fixedAt(parts, alone);
    if (bare.length > 0) return bare;
    // An unknown environment is an error of the dialect, whose form it then has.
    const below = rest.length === 0 || named === undefined ? [] : this.#fixedAt(rest, environment ?? named);
    if (below.length > 0) return below;
    return environment === undefined || rest.length === 0
      ? this.#patternsAt(parts, alone)
      : this.#patternsAt(rest, environment);
  }

  #fixedAt(parts: readonly string[], environment: string | undefined): Match[] {
    const found = this.#fixed.get(`/${parts.join("/")}`) ?? [];
    return found.map(({ dialect, route }) => ({ dialect, route, environment, params: {} }));
  }

  #patternsAt(parts: readonly string[], environment: string | undefined): Match[] {
    return this.#patterns.flatMap(({ dialect, route, parts: pattern }) => {
      const params = paramsOf(pattern, parts);
      return params === undefined ? [] : [{ dialect, route, environment, params }];
    });
  }
}

/** Returns the variable parts of a path; `undefined` if it does not fit the pattern. */
function paramsOf(pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, expected] of pattern.entries()) {
    const part = decode(parts[i] ?? "");
    if (part === undefined) return undefined;
    const name = /^\{(\w+)\}$/.exec(expected)?.[1];
    if (name === undefined ? part !== expected : part === "") return undefined;
    if (name !== undefined) params[name] = part;
  }
  return params;
}

/** Decodes a part of a URL; `undefined` if it is malformed. */
function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
