/** Tools to search for pages and to read them: offline over a folder, or on the web without access to private addresses. */
import { definePlugin } from "@mrlm/kit";
import { options } from "./options.ts";
import { createWebToolset } from "./web-toolset.ts";

export type { WebToolOptions } from "./options.ts";
export type { SearchProvider, SearchResult } from "./search/search-provider.ts";
export { createWebToolset, WebToolset } from "./web-toolset.ts";

export default definePlugin({
  name: "@mrlm/tool-web",
  options,
  tools: { "web@1": ({ dataPath }, options) => createWebToolset(options, { dataPath }) },
});
