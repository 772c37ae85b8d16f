import { VERSION } from "@mrlm/kit/service";
import type { MrlmError } from "@mrlm/spec";
import { z } from "zod";
import type { Call, Dialect, DialectContext, Route } from "./dialect.ts";
import { environmentOf } from "./environment-of.ts";
import { readBody } from "./read-body.ts";
import { errorText, withStatus } from "./status.ts";

const index = z.int();
const listRequest = z.strictObject({ split: z.string() });
const taskRequest = z.strictObject({ split: z.string(), index });
const rangeRequest = z.strictObject({ split: z.string(), start: index.nullish(), stop: index.nullish() });

/** Routes of every port: its state, its description, and the catalogue of tasks that ORS and OpenEnv share. */
export class CommonRoutes implements Dialect {
  readonly paths: readonly string[] = [];
  readonly routes: readonly Route[];
  readonly #context: DialectContext;

  /** @param others routes of the dialects, for the description */
  constructor(context: DialectContext, others: readonly Route[], hasCatalogue: boolean) {
    this.#context = context;
    const state: Route = {
      method: "GET",
      path: "/health",
      summary: "State of the server",
      // The validator of OpenEnv compares it; no client of ORS does.
      handle: ({ exchange }) => exchange.send(200, { status: "healthy" }),
    };
    const description: Route = {
      method: "GET",
      path: "/openapi.json",
      summary: "Description of the routes",
      handle: ({ exchange }) => exchange.send(200, openApi([...others, ...this.routes])),
    };
    this.routes = [state, description, ...(hasCatalogue ? this.#catalogueRoutes() : [])];
  }

  errorBody(error: MrlmError): unknown {
    return { detail: errorText(error) };
  }

  async close(): Promise<void> {}

  #catalogueRoutes(): Route[] {
    const { catalogue, environments } = this.#context;
    const list = (
      path: string,
      summary: string,
      handle: (call: Call, environment: string) => Promise<unknown>,
    ): Route => ({
      method: path === "/splits" ? "GET" : "POST",
      path,
      summary,
      handle: async (call) => {
        try {
          call.exchange.send(200, await handle(call, environmentOf(call, environments)));
        } catch (error) {
          throw withStatus(error);
        }
      },
    });
    return [
      {
        method: "GET",
        path: "/list_environments",
        summary: "Environments of this port",
        handle: ({ exchange }) => exchange.send(200, environments),
      },
      list("/splits", "Splits of an environment", (_, environment) => catalogue.splits(environment)),
      list("/num_tasks", "Number of tasks of a split", async ({ body }, environment) => ({
        num_tasks: await catalogue.count(environment, readBody(listRequest, body).split),
      })),
      list("/tasks", "Tasks of a split", async ({ body }, environment) => ({
        tasks: await catalogue.range(environment, readBody(listRequest, body).split),
        env_name: environment,
      })),
      list("/task", "Task by its index", async ({ body }, environment) => {
        const { split, index: at } = readBody(taskRequest, body);
        return { task: await catalogue.task(environment, split, at), env_name: environment };
      }),
      list("/task_range", "Tasks of a slice of a split", async ({ body }, environment) => {
        const { split, start, stop } = readBody(rangeRequest, body);
        const tasks = await catalogue.range(environment, split, start ?? undefined, stop ?? undefined);
        return { tasks, env_name: environment };
      }),
    ];
  }
}

/** Returns a description of routes as OpenAPI 3.1. Each path is served below the name of an environment too. */
function openApi(routes: readonly Route[]): object {
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
