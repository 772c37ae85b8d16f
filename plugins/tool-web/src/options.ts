import { modelClientOptions } from "@mrlm/model-client";
import { z } from "zod";

const url = z
  .url({ protocol: /^https?$/ })
  .refine((text) => URL.parse(text)?.username === "" && URL.parse(text)?.password === "", {
    message: "the URL has a user name or a password, which would be written into recordings and messages",
  });

/** Source of search results. */
const search = z
  .discriminatedUnion("provider", [
    z.strictObject({
      provider: z.literal("folder"),
      /** Folder of HTML, Markdown, text and JSONL files. Without it the files of each task are searched. */
      folder: z.string().min(1).optional(),
      /** URL of the folder: its files are fetched below it. */
      base_url: url
        .refine((text) => text.endsWith("/"), { message: "the URL does not end with /" })
        .default("https://corpus.invalid/"),
    }),
    z.strictObject({ provider: z.literal("searxng"), url }),
    z.strictObject({
      provider: z.literal("brave"),
      url: url.default("https://api.search.brave.com"),
      /** Name of the environment variable that holds the key. */
      key_env: z.string().min(1).default("BRAVE_API_KEY"),
    }),
    z.strictObject({
      provider: z.literal("tavily"),
      url: url.default("https://api.tavily.com"),
      key_env: z.string().min(1).default("TAVILY_API_KEY"),
    }),
  ])
  .prefault({ provider: "folder" });

const fetch = z
  .strictObject({
    /** Fetches pages from the web. Otherwise only those of the folder. Default: true unless the provider is `folder`. */
    live: z.boolean().optional(),
    /** Size of a page in bytes, before and after decompression. */
    max_bytes: z
      .int()
      .min(1024)
      .max(64 * 1024 * 1024)
      .default(5 * 1024 * 1024),
    /** Time for a page with all of its redirects. */
    timeout_ms: z.int().min(100).max(120_000).default(20_000),
    max_redirects: z.int().min(0).max(20).default(5),
    /** Pages and searches on the web at once, over all episodes. Others wait. */
    concurrency: z.int().min(1).max(1024).default(32),
    /** Respects robots.txt. */
    robots: z.boolean().default(false),
    user_agent: z
      .string()
      .regex(/^[\x21-\x7e][\x20-\x7e]*$/)
      .max(200)
      .default("mrlm-tool-web/1"),
    /** Ports of public addresses. */
    ports: z.array(z.int().min(1).max(65_535)).default([80, 443, 8080, 8443]),
    /** Returns the main content of a page only, without menus. */
    main_content: z.boolean().default(false),
    /** Characters of one part of a page. */
    part_characters: z.int().min(200).max(200_000).default(8000),
  })
  .prefault({});

/** Options of the plugin. */
export const options = z
  .strictObject({
    search,
    fetch,
    /** Addresses that may be reached although they are not public. */
    allow: z.array(z.string()).default([]),
    /** Sites and pages that are neither found nor opened. */
    deny: z
      .strictObject({ hosts: z.array(z.string()).default([]), urls: z.array(z.string()).default([]) })
      .prefault({}),
    cassette: z
      .strictObject({ mode: z.enum(["record", "replay", "replay-or-fail"]), folder: z.string().min(1) })
      .optional(),
    /** Summaries of long pages by a model. */
    summary: z
      .strictObject({
        endpoint: modelClientOptions,
        /** Longer pages are summarised. */
        above_characters: z.int().min(200).default(16_000),
        /** Characters of a page that the model reads. */
        max_input_characters: z.int().min(200).max(10_000_000).default(100_000),
        max_tokens: z.int().min(16).max(100_000).default(1024),
        /** Time of a summary, with the attempts of the client. */
        deadline_ms: z.int().min(100).max(600_000).default(30_000),
      })
      .optional(),
    workers: z
      .strictObject({
        threads: z.int().min(1).max(64).default(2),
        cpu_ms: z.int().min(100).max(60_000).default(2000),
        memory_mib: z.int().min(128).max(4096).default(200),
      })
      .prefault({}),
  })
  .superRefine(({ search, fetch, cassette }, context) => {
    if (cassette !== undefined && search.provider === "folder" && fetch.live !== true)
      context.addIssue({
        code: "custom",
        path: ["cassette"],
        message: "nothing is recorded offline: set `fetch.live` or a search service, or leave it out",
      });
    if (!("key_env" in search) || cassette?.mode === "replay-or-fail" || (process.env[search.key_env] ?? "") !== "")
      return;
    context.addIssue({
      code: "custom",
      path: ["search", "key_env"],
      message: `the search service ${search.provider} needs a key, and the environment variable ${search.key_env} is not set`,
    });
  })
  .prefault({});

export type WebToolOptions = z.infer<typeof options>;
