import { VERSION } from "@mrlm/kit/service";
import type { Route } from "./dialect.ts";

/** Returns a description of routes as OpenAPI 3.1. Each path is served below the name of an environment too. */
export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, summary } of routes) {
    const operations = (paths[path] ??= {});
    const operation = method.toLowerCase();
    const before = operations[operation] as { readonly summary: string } | undefined;
    operations[operation] = {
      summary: before === undefined ? summary : `${before.summary}; ${summary}`,
      ...(path.includes("{") && { parameters: parametersOf(path) }),
      responses: { default: { description: "JSON of the protocol" } },
    };
  }
  return { openapi: "3.1.0", info: { title: "mrlm", version: VERSION }, paths };
}

function parametersOf(path: string): object[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}
