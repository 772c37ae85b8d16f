import { z } from "zod";

// The messages of refinements quote no value: a key may stand where its name, or an address, belongs.
const url = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
    message: "this is no URL with http or https",
    abort: true,
  })
  .refine((text) => URL.parse(text)?.username === "" && URL.parse(text)?.password === "", {
    message: "the URL has a user name or a password, which would be written into configurations and messages",
  })
  .refine((text) => !/[?#]/.test(text), { message: "the URL has a query or a fragment, which could hold a key" });

// Some keys are words of letters, digits and _: capitals distinguish a name from them.
const apiKeyEnv = z.string().refine((name) => /^[A-Z_][A-Z0-9_]*$/.test(name), {
  message: "this is no name of an environment variable in capitals. Name the variable, never write the key itself",
});

/** Price of a million tokens, in the currency of `budget.cost`. */
const price = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  /** Price of input tokens that the endpoint had in its cache. Default: `input`. */
  cached_input: z.number().nonnegative().optional(),
});

/** Model of another endpoint to fail over to. */
const otherModel = z.strictObject({
  model: z.string().min(1),
  /** Default: that of the client. */
  base_url: url.optional(),
  /** Default: that of the client, for a model of its `base_url`. */
  api_key_env: apiKeyEnv.optional(),
});

/** Options of a model client. Judges, players and tools that use an endpoint have them under the same names. */
export const modelClientOptions = z
  .strictObject({
    /** Address of the endpoint, usually with /v1 at its end. */
    base_url: url.default("https://api.openai.com/v1"),
    /** Name of the model, or names in the order of failover. An entry may name another endpoint. */
    model: z.union([z.string().min(1), z.array(z.union([z.string().min(1), otherModel])).min(1)]),
    /** Name of the environment variable that holds the key. Without it no key is sent. */
    api_key_env: apiKeyEnv.optional(),
    /** Time of one attempt, from its connection to the last byte. */
    timeout_ms: z.int().min(1).max(3_600_000).default(60_000),
    /** Attempts after the first one, for each model. */
    max_retries: z.int().min(0).max(20).default(2),
    /** Requests at the same time. Others wait. */
    concurrency: z.int().min(1).max(4096).default(16),
    /** Connections to each endpoint. Default: `concurrency`. */
    connections: z.int().min(1).max(4096).optional(),
    /** Limits of all requests of the client together. */
    budget: z
      .strictObject({
        /** HTTP requests, with retries. */
        requests: z.int().positive().optional(),
        /** Tokens of prompts and outputs. */
        tokens: z.int().positive().optional(),
        /** Money, by `prices`. */
        cost: z.number().positive().optional(),
      })
      .prefault({}),
    /** Prices by model. */
    prices: z.record(z.string(), price).default({}),
    /** Recorded answers. */
    cache: z.strictObject({ mode: z.enum(["record", "replay", "replay-or-fail"]), file: z.string().min(1) }).optional(),
    /** Way in which a model is asked for JSON: by its schema, as any JSON, or in the text of the request alone. */
    json: z.enum(["schema", "object", "text"]).default("schema"),
    /** Receives answers as a stream of events, for servers and proxies that end silent connections. */
    stream: z.boolean().default(false),
    /** Name of the field for the token limit. Default: `max_completion_tokens` for api.openai.com, else `max_tokens`. */
    max_tokens_field: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
    /** Further fields of each request, such as `reasoning_effort`. */
    extra: z.record(z.string(), z.json()).default({}),
  })
  .superRefine(({ model, budget, prices, extra }, context) => {
    const names = (typeof model === "string" ? [model] : model).map((entry) =>
      typeof entry === "string" ? entry : entry.model,
    );
    for (const name of names)
      if (budget.cost !== undefined && prices[name] === undefined)
        context.addIssue({
          code: "custom",
          path: ["prices"],
          message: `\`budget.cost\` needs the price of ${JSON.stringify(name)}: { input, output } for a million tokens`,
        });
    for (const name of ["messages", "model", "stream", "n", "tools", "response_format"])
      if (Object.hasOwn(extra, name))
        context.addIssue({ code: "custom", path: ["extra", name], message: "the client sets this field itself" });
  });

export type ModelClientOptions = z.infer<typeof modelClientOptions>;
export type Price = z.infer<typeof price>;
