/** Line that the engine writes to its standard output when it accepts calls. */
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
