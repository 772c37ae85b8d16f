/** How to start a child. Paths are those that the child sees: with a jail, the targets of `mounts`; without, host paths. */
export interface ChildProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** What a jailed child can read beside the system's libraries, and where it sees it. */
  readonly mounts: readonly { readonly source: string; readonly target: string }[];
  /** Symbolic links in the jail. */
  readonly links?: readonly { readonly target: string; readonly path: string }[];
  /** The whole environment of the child. */
  readonly env?: Readonly<Record<string, string>>;
  /** It makes processes of its own: they count toward its limits. Jailed, it is process 1 and must reap what is orphaned. */
  readonly forks?: boolean;
  /** It makes namespaces of its own for what it starts (unshare, mount): the jail leaves it the right to. */
  readonly namespaces?: boolean;
  /** Size of its /tmp in a jail; 64 MB by default. */
  readonly tmpBytes?: number;
}

/** The near side of the seam: how one kind of sandbox starts its children. Everything else is the pool's. */
export interface SandboxBackend {
  /** `isolated-vm`, `pyodide`, `native`. */
  readonly kind: string;
  readonly language: string;
  /** Walls that its program and its children put up themselves: `isolate`, `node-permissions`, ... */
  readonly layers: readonly string[];
  /** What another kind would have had, and why it is not this one. */
  readonly missing?: readonly { readonly layer: string; readonly reason: string }[];
  /** Sessions can `snapshot` and `restore`. */
  readonly hasSnapshots: boolean;
  /** A child of a session is never asked for tests. Rejects with SANDBOX_FAILED, and what to do, when there is nothing to start. */
  program(options: {
    readonly isJailed: boolean;
    readonly isForSession: boolean;
  }): ChildProgram | Promise<ChildProgram>;
}
