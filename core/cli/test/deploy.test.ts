import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { createProgram } from "../src/program.ts";

const folder = new URL("../../../deploy/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, folder), "utf8");
const manifests = Object.fromEntries(
  readdirSync(new URL("kubernetes/", folder)).map((file) => {
    const manifest = parse(read(`kubernetes/${file}`));
    return [manifest.kind as string, manifest];
  }),
);
const { spec: pod, metadata } = manifests["Deployment"].spec.template;
const [container] = pod.containers;
const dockerfile = read("Dockerfile");
const compose = parse(read("compose.yaml"), { merge: true });
const labels = { "app.kubernetes.io/name": "mrlm-server" };

/** Parses arguments as `mrlm serve` does; an unknown flag is an error. */
function options(args: readonly string[]): Record<string, unknown> {
  const program = createProgram(() => undefined);
  const serve = program.commands.find((command) => command.name() === "serve");
  serve
    ?.exitOverride()
    .action(() => undefined)
    .parse([...args], { from: "user" });
  return serve?.opts() ?? {};
}

test.each([
  ["Dockerfile", JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] as string) as string[]],
  ["compose.yaml", compose["x-server"].command as string[]],
  ["deployment.yaml", container.args as string[]],
])("%s starts a server with flags that exist, for other machines, with a token", (_, args) => {
  expect(options(args)).toMatchObject({ host: "0.0.0.0", tokenFile: expect.any(String), insecure: true });
});

test("a server is stopped by force only after its drain time", () => {
  const seconds = (args: readonly string[]): number => Number(options(args)["drainSeconds"]);
  const { command } = container.lifecycle.preStop.exec;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(seconds(container.args) + Number(command.at(-1)) + 10);
  for (const service of Object.values<{ stop_grace_period: string; command: string[] }>(compose.services))
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(seconds(service.command) + 10);
});

test("ports, probes, labels and users agree", () => {
  const { port, metricsPort } = options(container.args);
  expect(
    container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]),
  ).toEqual([
    ["grpc", Number(port)],
    ["metrics", Number(metricsPort)],
  ]);
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"])
    expect(container[probe].grpc).toEqual({ port: Number(port) });
  expect(metadata.labels).toEqual(labels);
  expect(manifests["Deployment"].spec.selector.matchLabels).toEqual(labels);
  expect(manifests["Service"].spec).toMatchObject({ clusterIP: "None", selector: labels });
  expect(manifests["PodDisruptionBudget"].spec.selector.matchLabels).toEqual(labels);
  expect(manifests["NetworkPolicy"].spec.podSelector.matchLabels).toEqual(labels);
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
  expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  expect(dockerfile.match(/^FROM node:24-/gm)).toHaveLength(2);
  expect(dockerfile).toContain("bubblewrap");
  expect(Object.keys(compose.services)).toHaveLength(2);
});
