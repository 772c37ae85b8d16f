// Samplers that other machines reach: behind TLS, with a token.
import { expect, test } from "@jest/globals";
import { ServerTls, Tokens } from "@mrlm/kit/access";
import { forwardPort, serveSampler } from "@mrlm/server";
import { BigramExternalSampler, createAuthority } from "@mrlm/testing";
import { authority } from "./support/handshake-faults.ts";
import { changed, cleanUpAfterEach, cleanups, draw, faulty, trained, until } from "./support/sampler-pools.ts";

cleanUpAfterEach();

const HOST = "127.0.0.2";
const issue = () => authority.issue({ names: [HOST], usages: ["server"] });

/** Offers a sampler with a token at another address, and counts the waves that are drawn there. */
async function offered(parts: Awaited<ReturnType<typeof trained>>) {
  const sampler = new BigramExternalSampler(parts.local);
  const counts = { results: 0 };
  const trainers: string[] = [];
  const counted = faulty(sampler, {
    sampler: (model) => changed(sampler.sampler(model), (result) => (counts.results++, result)),
    async update(update) {
      trainers.push(update.source.kind === "trainer" ? update.source.address : update.source.kind);
      return await sampler.update(update);
    },
  });
  const own = await serveSampler({ sampler: counted, address: "127.0.0.1:0", tokens: Tokens.of("secret") });
  const tls = new ServerTls(issue());
  const forwarded = await forwardPort({ host: HOST, port: 0, to: `127.0.0.1:${own.port}`, tls });
  cleanups.push(
    () => own.close(),
    () => forwarded.close(),
  );
  return { address: `${HOST}:${forwarded.port}`, tls, counts, trainers };
}

test("a sampler behind TLS samples; places with another token or authority are named, and the run continues", async () => {
  const parts = await trained();
  const { local, engine, pool, lines } = parts;
  const { address, tls, counts, trainers } = await offered(parts);
  const place = { address, token: "secret", tls: { ca: authority.cert } };
  await engine.publish("policy");
  const refused = {
    "other-token": [{ ...place, token: "other" }, "UNAUTHENTICATED"],
    "other-authority": [{ ...place, tls: { ca: createAuthority().cert } }, "TLS_FAILED"],
    "no-authority": [{ ...place, tls: {} }, "TLS_FAILED"],
    "damaged-authority": [{ ...place, tls: { ca: "none" } }, "CONFIG_INVALID"],
  } as const;
  for (const [name, [wrong]] of Object.entries(refused)) pool.add({ name, ...wrong });
  for (const [name, [, code]] of Object.entries(refused))
    await until(() =>
      lines.some((line) => line.startsWith(`sampler ${name} at ${address} is out of service: [${code}]`)),
    );
  // Without a sampler the trainer draws.
  expect(await draw(engine)).toEqual(await draw(local));
  expect(counts.results).toBe(0);

  // The address that the sampler uses for the trainer is not that of this process.
  pool.add({ name: "right", ...place, trainer: "trainer.example:50061" });
  await until(() => pool.serving().length === 1);
  expect(trainers).toEqual(["trainer.example:50061"]);
  expect(await draw(engine)).toEqual(await draw(local));
  expect(counts.results).toBe(4);

  // New connections get the new certificate.
  tls.replace(issue());
  pool.add({ name: "later", ...place });
  await until(() => pool.serving().length === 2);
});

test("an end of the sampler ends its connections; a port in use is refused", async () => {
  const parts = await trained();
  const own = await serveSampler({ sampler: new BigramExternalSampler(parts.local), address: "127.0.0.1:0" });
  const to = `127.0.0.1:${own.port}`;
  const forwarded = await forwardPort({ host: HOST, port: 0, to });
  const { port } = forwarded;
  await expect(forwardPort({ host: HOST, port, to })).rejects.toMatchObject({ code: "PORT_IN_USE" });
  await expect(forwardPort({ host: "192.0.2.1", port, to })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  parts.pool.add({ name: "plain", address: `${HOST}:${port}` });
  await parts.engine.publish("policy");
  await until(() => parts.pool.serving().length === 1);
  await own.close();
  expect(await draw(parts.engine)).toEqual(await draw(parts.local));
  expect(parts.pool.serving()).toEqual([]);
  await forwarded.close();
});
