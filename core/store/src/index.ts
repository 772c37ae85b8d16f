export type { StoreSettings } from "./store-database.ts";
export { openEpisodeStore } from "./worker-store.ts";
