/** Kind of database that holds episode stores, in a plugin. Its other members are those of `StoreProvider` of `@mrlm/store/provider`. */
export interface StoreDefinition {
  /** `postgres` for the provision `store:postgres`, which opens `postgres://USER@HOST:PORT/DATABASE`. */
  readonly name: string;
}
