import { createModelClient, type ModelClient } from "@mrlm/model-client";
import {
  defined,
  type Determinism,
  type OpenToolset,
  Places,
  type ToolDefinition,
  type Toolset,
  type ToolsetEpisode,
  unqueued,
} from "@mrlm/kit";
import { type CassetteOptions, prepareCassette, withCassette } from "./cassette/cassette.ts";
import { AllowList } from "./network/allow-list.ts";
import { DenyList } from "./network/deny-list.ts";
import { type Exchange, httpExchange } from "./network/http-exchange.ts";
import type { Resolve } from "./network/resolve-name.ts";
import { type RobotsMatcher, robotsPolicy } from "./network/robots-policy.ts";
import { WebClient } from "./network/web-client.ts";
import { WebError } from "./network/web-error.ts";
import { parseWebUrl } from "./network/web-url.ts";
import type { WebToolOptions } from "./options.ts";
import type { Corpus } from "./search/corpus.ts";
import { httpSearch, isUsable, type SearchService } from "./search/http-search.ts";
import { corpusOfFiles, type CorpusOptions, loadCorpus } from "./search/load-corpus.ts";
import type { SearchProvider } from "./search/search-provider.ts";
import { brave, searxng, tavily } from "./search/services.ts";
import { TaskCorpora } from "./search/task-corpora.ts";
import { fetchDefinition, fetchTool } from "./tools/fetch-tool.ts";
import type { PageSource } from "./tools/page-source.ts";
import { pageSummary } from "./tools/summarise-page.ts";
import { searchDefinition, searchTool } from "./tools/search-tool.ts";
import { untilAborted } from "./until-aborted.ts";
import { webPages } from "./web-pages.ts";
import { WorkerPool } from "./worker/worker-pool.ts";

/** Parts of the system that tests and hosts replace. */
export interface WebToolsetSystem {
  /** Resolver of names. Default: the name servers of this machine. */
  readonly resolve?: Resolve;
  /** Worker threads of several toolsets, which the caller closes. */
  readonly pool?: WorkerPool;
  /** Returns the absolute path of a file that an option names. Default: relative to the current folder. */
  readonly dataPath?: (path: string) => string;
}

/** Time of a call beside its requests: the conversion of a page, and robots.txt. */
const MARGIN_MS = 10_000;

/**
 * Creates the toolset `web`: `search` and `fetch`. Reads the folder of the search, so that its faults are reported before an episode begins.
 * @throws OPTIONS_INVALID, DATA_INVALID
 */
export async function createWebToolset(options: WebToolOptions, system: WebToolsetSystem = {}): Promise<WebToolset> {
  const toolset = new WebToolset(options, system);
  await toolset.prepare();
  return toolset;
}

/** Episodes share the worker threads, the corpus of the folder, and the corpora of tasks with the same files. */
export class WebToolset implements Toolset {
  readonly definitions: readonly ToolDefinition[];
  /** `full` offline; with a live web `replayable` by a cassette, else `none`; at most that of the model that summarises. */
  readonly determinism: Determinism;
  readonly #options: WebToolOptions;
  readonly #dataPath: (path: string) => string;
  readonly #pool: WorkerPool;
  readonly #ownsPool: boolean;
  readonly #deny: DenyList;
  readonly #web: PageSource | undefined;
  readonly #service: SearchProvider | undefined;
  readonly #tasks: TaskCorpora;
  readonly #cassette: CassetteOptions | undefined;
  readonly #summaries: ModelClient | undefined;
  #corpus: Corpus | undefined;

  constructor(options: WebToolOptions, { resolve, pool, dataPath = (path) => path }: WebToolsetSystem) {
    const { fetch, search, workers, cassette, summary } = options;
    const isLive = fetch.live ?? search.provider !== "folder";
    this.#summaries = summary === undefined ? undefined : createModelClient(summary.endpoint, { dataPath });
    this.definitions = [searchDefinition, fetchDefinition({ hasSummaries: summary !== undefined })];
    const ofPages = !isLive && search.provider === "folder" ? "full" : cassette === undefined ? "none" : "replayable";
    this.determinism = ofPages === "none" ? "none" : (this.#summaries?.determinism ?? ofPages);
    this.#options = options;
    this.#dataPath = dataPath;
    this.#ownsPool = pool === undefined;
    this.#pool =
      pool ?? new WorkerPool({ threads: workers.threads, cpuMs: workers.cpu_ms, memoryMib: workers.memory_mib });
    this.#deny = new DenyList(options.deny);
    this.#tasks = new TaskCorpora((files, signal) => corpusOfFiles(files, this.#corpusOptions(signal)));
    const rules = {
      allow: new AllowList(options.allow),
      ports: fetch.ports,
      ...defined({ resolve }),
    };
    const tape = cassette === undefined ? undefined : { ...cassette, folder: dataPath(cassette.folder) };
    this.#cassette = tape;
    const recorded = (exchange: Exchange, keeps?: CassetteOptions["keeps"]): Exchange =>
      tape === undefined ? exchange : withCassette(exchange, { ...tape, ...defined({ keeps }) });
    const places = new Places(fetch.concurrency);
    if (isLive) {
      const client = new WebClient({
        exchange: recorded(httpExchange(rules)),
        deny: this.#deny,
        maxBytes: fetch.max_bytes,
        maxRedirects: fetch.max_redirects,
        timeoutMs: fetch.timeout_ms,
        userAgent: fetch.user_agent,
      });
      const match: RobotsMatcher = (question) =>
        this.#pool.run("robots", question, { signal: new AbortController().signal }).catch(() => false);
      const robots = fetch.robots ? robotsPolicy(client, match, fetch.user_agent) : undefined;
      this.#web = webPages({ client, robots, pool: this.#pool, isMainContentOnly: fetch.main_content, places });
    }
    const service = serviceOf(search);
    if (service !== undefined)
      this.#service = httpSearch(service, {
        exchange: recorded(httpExchange("trusted"), isUsable),
        deny: this.#deny,
        timeoutMs: fetch.timeout_ms,
        places,
      });
  }

  /** Reads the folder of the search and checks that of the recordings. */
  async prepare(): Promise<void> {
    if (this.#cassette !== undefined) await prepareCassette(this.#cassette);
    const { search } = this.#options;
    if (search.provider === "folder" && search.folder !== undefined)
      this.#corpus = await loadCorpus(this.#dataPath(search.folder), this.#corpusOptions(new AbortController().signal));
  }

  async open({ files = {} }: Pick<ToolsetEpisode, "files">): Promise<OpenToolset> {
    const { search, fetch, summary } = this.#options;
    const own = this.#tasks.of(files);
    const provider = async ({ signal, queued = unqueued }: Parameters<PageSource>[1]): Promise<SearchProvider> =>
      // The limit of a call holds for the policy's work. The corpus of the task belongs to the episode.
      this.#service ?? this.#corpus ?? (await queued(() => untilAborted(own.corpus(), signal)));
    const pages: PageSource = async (text, options) => {
      const url = parseWebUrl(text);
      if (this.#deny.has(url))
        throw new WebError("denied", "The site or page is on the deny-list of this environment.");
      const page = search.provider === "folder" ? ((await provider(options)) as Corpus).page(url.href) : undefined;
      if (page !== undefined) return page;
      if (this.#web !== undefined) return await this.#web(text, options);
      throw new WebError("content", "No page has this URL. Use a URL that the tool `search` returned.");
    };
    const timeoutMs = fetch.timeout_ms + MARGIN_MS;
    const summarise =
      summary === undefined || this.#summaries === undefined ? undefined : pageSummary(this.#summaries, summary);
    return {
      tools: [
        searchTool(provider, timeoutMs),
        fetchTool(pages, {
          partCharacters: fetch.part_characters,
          timeoutMs: timeoutMs + (summary?.deadline_ms ?? 0),
          summarise,
        }),
      ],
      close: async () => own.close(),
    };
  }

  /** Ends the worker threads and the connections to the model. */
  async close(): Promise<void> {
    await this.#summaries?.close();
    if (this.#ownsPool) await this.#pool.close();
  }

  #corpusOptions(signal: AbortSignal): CorpusOptions {
    const { search, fetch } = this.#options;
    return {
      pool: this.#pool,
      baseUrl: search.provider === "folder" ? search.base_url : "",
      isMainContentOnly: fetch.main_content,
      isDenied: (url) => this.#deny.has(url),
      signal,
    };
  }
}

function serviceOf(search: WebToolOptions["search"]): SearchService | undefined {
  if (search.provider === "folder") return undefined;
  if (search.provider === "searxng") return searxng(search.url);
  const key = process.env[search.key_env] ?? ""; // the options require it, except where no request is sent
  return search.provider === "brave" ? brave(search.url, key) : tavily(search.url, key);
}
