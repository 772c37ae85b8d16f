/** Frames of V8's stacks: `at step (file:///home/me/environment/index.ts:12:7)`. */
const FRAME = /(?:\(|at )(?:async )?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^()]*?):(\d+):\d+\)?$/;

/** Returns the path and the line of a frame of a stack; `undefined` for one without. */
export function locationOf(frame: string): { readonly path: string; readonly line: number } | undefined {
  const [, path, row] = FRAME.exec(frame) ?? [];
  return path === undefined ? undefined : { path, line: Number(row) };
}
