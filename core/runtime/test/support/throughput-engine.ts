import type { Engine, Sampler } from "@mrlm/spec/host";

/** Samples at once, as an engine in throughput mode does. */
export function throughputEngine(engine: Engine): Engine {
  return new Proxy(engine, {
    get(target, property) {
      if (property !== "sampler") return Reflect.get(target, property).bind(target);
      return async (model: string): Promise<Sampler> => {
        const sampler = await target.sampler(model);
        return {
          ...bound(sampler),
          sample: (given, options) => {
            const result = sampler.sample(given, options);
            sampler.barrier();
            return result;
          },
        };
      };
    },
  });
}

/** Returns a sampler whose methods can be taken from it. */
export const bound = (sampler: Sampler): Sampler => ({
  sample: sampler.sample.bind(sampler),
  barrier: sampler.barrier.bind(sampler),
  close: sampler.close.bind(sampler),
});
