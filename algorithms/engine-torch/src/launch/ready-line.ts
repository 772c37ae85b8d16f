/** What the engine says on its standard output once it accepts calls. */
export interface ReadyLine {
  /** `host:port`. */
  readonly listening: string;
  /** `cpu`, `cuda:0`, ... */
  readonly device: string;
  readonly pid: number;
  readonly instance_id: string;
  /** `major.minor` of the protocol. */
  readonly protocol: string;
}
