import { randomUUID } from "node:crypto";
import { randomStream } from "@mrlm/kit";
import type { RandomStream } from "@mrlm/spec";

/** Returns the streams of random numbers of a toolset in an episode; different ones each time where the episode has no seed. */
export function toolRandom(id: string, seed: number | null): (name: string) => RandomStream {
  return (name) => randomStream(`tools/${id}/${name}${seed === null ? `/${randomUUID()}` : ""}`, seed ?? 0);
}
