import { connectEngine } from "@mrlm/client";
import { type EnginePlace, type EnginePlaces, enginesOf, MAIN_ENGINE, type ResolvedConfig } from "@mrlm/runtime";
import type { RunStatus } from "./run-status.ts";
import { MrlmError } from "@mrlm/spec";
import { isLoopback } from "./server-access.ts";

/** Returns the places of the engines of a training process as this machine reaches them. */
export type ReachEngines = <Places extends EnginePlaces>(places: Places) => Places;

/** Reads the flags `--engine`: addresses by name of the engine. Throws USAGE for an engine that the run does not have. */
export function engineAddresses(flags: readonly string[], config: ResolvedConfig): ReadonlyMap<string, string> {
  const names = enginesOf(config).map(({ name }) => name);
  return new Map(
    flags.map((flag) => {
      const [, name = MAIN_ENGINE, address = ""] = /^(?:([^=]*)=)?(.*)$/.exec(flag) ?? [];
      if (names.includes(name)) return [name, address];
      throw new MrlmError("USAGE", `--engine ${flag}: the run has no engine "${name}", but ${names.join(", ")}.`);
    }),
  );
}

/**
 * Replaces the addresses that flags name. Throws CONFIG_INVALID for an engine that this machine cannot reach.
 * @param host address by which this process belongs to the run; a loopback address means the machine of the engine, or tunnels to it
 */
export function reachable<Places extends EnginePlaces>(
  places: Places,
  host: string,
  addresses: ReadonlyMap<string, string>,
): Places {
  const reached = <Place extends EnginePlace>(name: string, place: Place): Place => {
    const address = addresses.get(name);
    if (address !== undefined) return { ...place, address };
    if (!isLoopback(hostOf(place.address)) || isLoopback(host)) return place;
    throw new MrlmError(
      "CONFIG_INVALID",
      `The engine of the training process listens on ${place.address}, which only its own machine reaches.`,
      {
        hint: `Forward its port to this machine and give --engine ${flagOf(name)}, or train with an engine.address that all machines reach.`,
      },
    );
  };
  const main = reached(MAIN_ENGINE, places);
  if (places.engines === undefined) return main;
  const engines = Object.entries(places.engines).map(([name, place]) => [name, reached(name, place)]);
  return { ...main, engines: Object.fromEntries(engines) as Places["engines"] };
}

/**
 * Returns a function that is given the training process of a run. It reports each engine of a new one that does not answer this machine, once. It rejects as
 * `reach` throws.
 */
export function engineNotice(
  reach: ReachEngines,
  notice: (text: string) => void,
): (training: RunStatus["training"]) => Promise<void> {
  let last: number | undefined;
  return async (training) => {
    if (training === undefined || training.since === last) return;
    last = training.since;
    const main = reach(training);
    for (const [name, { address, token }] of Object.entries({ [MAIN_ENGINE]: main, ...main.engines }))
      try {
        const engine = await connectEngine(address, token === undefined ? {} : { token });
        await engine.close();
      } catch (error) {
        if (!MrlmError.isInstance(error) || error.code === "CONFIG_INVALID") throw error;
        notice(
          `no weights can be read from the engine: [${error.code}] ${error.message} Give --engine ${flagOf(name)} where this machine reaches it at another address.`,
        );
      }
  };
}

/** Value of the flag `--engine` for an engine. */
function flagOf(name: string): string {
  return `${name === MAIN_ENGINE ? "" : `${name}=`}HOST:PORT`;
}

export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":"));
}
