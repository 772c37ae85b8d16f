/** Node of a graph, in order of time. */
export interface LaneNode {
  readonly parent: number | null;
  readonly isBranch: boolean;
}

/** Row of a graph: its node, and the lines that touch it. */
export interface LaneRow {
  readonly lane: number;
  /** Lane of the parent of a branch. */
  readonly from: number | undefined;
  /** Lanes with a line in the upper and in the lower half of the row. */
  readonly above: readonly number[];
  readonly below: readonly number[];
}

/** Returns the lanes of a graph. A branch has one lane from its first node to its last one, or to the last branch that comes from it. */
export function laneRows(nodes: readonly LaneNode[]): LaneRow[] {
  /** First node of the branch of each node. */
  const heads: number[] = [];
  const ends: number[] = [];
  for (const [row, { parent, isBranch }] of nodes.entries()) {
    const head = isBranch || parent === null ? row : (heads[parent] as number);
    heads.push(head);
    ends[head] = row;
    if (parent !== null) ends[heads[parent] as number] = row;
  }
  const lanes: number[] = [];
  /** Head of the branch that has a lane last. */
  const taken: number[] = [];
  return nodes.map(({ parent }, row) => {
    const head = heads[row] as number;
    if (head === row) {
      const free = taken.findIndex((other) => (ends[other] as number) < row);
      lanes[row] = free < 0 ? taken.length : free;
      taken[lanes[row]] = row;
    }
    const touching = taken.filter((other) => other <= row && row <= (ends[other] as number));
    const laneOf = (other: number): number => lanes[other] as number;
    return {
      lane: laneOf(head),
      from: head === row && parent !== null ? laneOf(heads[parent] as number) : undefined,
      above: touching.filter((other) => other < row).map(laneOf),
      below: touching.filter((other) => row < (ends[other] as number)).map(laneOf),
    };
  });
}
