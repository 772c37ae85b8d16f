import type { EngineInfo, ModelInfo } from "@mrlm/spec/host";

/** Returns the description of several engines that act as one. Memory, seconds, threads and processes are sums. */
export function joinEngineInfos(infos: readonly EngineInfo[], models: readonly ModelInfo[]): EngineInfo {
  const texts = (of: (info: EngineInfo) => string): string => [...new Set(infos.map(of))].join(", ");
  const sum = (of: (info: EngineInfo) => number): number => infos.reduce((total, info) => total + of(info), 0);
  return {
    device: texts(({ device }) => device),
    deviceName: texts(({ deviceName }) => deviceName),
    versions: {
      torch: texts(({ versions }) => versions.torch),
      transformers: texts(({ versions }) => versions.transformers),
      python: texts(({ versions }) => versions.python),
    },
    deterministic: infos.every(({ deterministic }) => deterministic),
    threads: sum(({ threads }) => threads),
    worldSize: sum(({ worldSize }) => worldSize),
    instanceId: infos.map(({ instanceId }) => instanceId).join("+"),
    memory: {
      allocatedBytes: sum(({ memory }) => memory.allocatedBytes),
      peakBytes: sum(({ memory }) => memory.peakBytes),
    },
    computeSeconds: sum(({ computeSeconds }) => computeSeconds),
    models,
  };
}
