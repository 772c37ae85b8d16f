// Entry for plugins that provide a kind of database. It loads no database.
export { type Database, type Row, type Statement, type StatementValue, type StoreConnection } from "./database.ts";
export type { QueryLine, QueryRequest, QueryValue } from "./query-messages.ts";
export { invalidQuery, uniqueNames, withoutComments } from "./query-text.ts";
export { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
export { assertMeta, assertRun, readMeta } from "./store-meta.ts";
export { databaseOf, runOfPlace, withoutPassword } from "./store-place.ts";
export type { AnnouncedRun, DescribedRun, RunAnnouncement, RunDescription, StoreProvider } from "./store-provider.ts";
export type { StoreSettings } from "./store-settings.ts";
export { VIEW_SCHEMA } from "./views.ts";
