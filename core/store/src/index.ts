export { StoreDatabase, type StoreSettings } from "./store-database.ts";
