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

/** Reads a line of the engine's output; `undefined` for anything else that a library may print. */
export function parseReadyLine(line: string): ReadyLine | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value = JSON.parse(line) as Partial<ReadyLine>;
    const isReady = typeof value.listening === "string" && typeof value.instance_id === "string" && typeof value.pid === "number";
    return isReady ? (value as ReadyLine) : undefined;
  } catch {
    return undefined;
  }
}
