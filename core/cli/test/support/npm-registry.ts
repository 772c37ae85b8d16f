import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Manifest of one version of a package. */
export type VersionManifest = Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };

/** Registry on loopback with the requests of npm: view, search, install, whoami, publish. */
export interface NpmRegistry {
  readonly url: string;
  /** Requests as method and path, decoded. */
  readonly requests: readonly string[];
  /** Adds a version with its tarball. */
  add(manifest: VersionManifest, tarball: Buffer): void;
  /** Status of every later request, until it is `undefined` again. */
  refuse(status: number | undefined): void;
  /** Makes it search names alone from now on, and leave versions out of the results, as verdaccio does. */
  searchNames(): void;
  close(): void;
}

/** Field of a published document with its tarball. */
const ATTACHMENTS = "_attachments";

interface Packument {
  readonly name: string;
  readonly "dist-tags": Record<string, string>;
  readonly versions: Record<string, object>;
  readonly time: Record<string, string>;
}

/** Starts a registry. Its user is `author` for every token. */
export async function startRegistry(): Promise<NpmRegistry> {
  const packuments = new Map<string, Packument>();
  const tarballs = new Map<string, Buffer>();
  const requests: string[] = [];
  let refused: number | undefined;
  let searchesNames = false;
  const add = (manifest: VersionManifest, tarball: Buffer): void => {
    const { name, version } = manifest;
    const path = `/${encodeURIComponent(name)}-${version}.tgz`;
    tarballs.set(path, tarball);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const packument = packuments.get(name) ?? {
      name,
      "dist-tags": {},
      versions: {},
      time: { created: "2026-01-02T00:00:00.000Z" },
    };
    packument.versions[version] = { ...manifest, dist: { integrity, tarball: `${url}${path}` } };
    packument["dist-tags"]["latest"] = version;
    packument.time[version] = "2026-03-04T00:00:00.000Z";
    packuments.set(name, packument);
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    requests.push(`${request.method} ${decodeURIComponent(request.url ?? "")}`);
    const name = decodeURIComponent(path.slice(1));
    const answer = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body));
    if (refused !== undefined) answer(refused, { error: "refused" });
    else if (path === "/-/whoami") {
      if (request.headers.authorization === undefined) answer(401, {});
      else answer(200, { username: "author" });
    } else if (path === "/-/v1/search") {
      const words = new URL(request.url ?? "", url).searchParams.get("text")?.split(" ") ?? [];
      const found = [...packuments.values()].filter(
        ({ name: each }) => !searchesNames || words.every((word) => each.includes(word)),
      );
      const objects = found.map(({ versions, time, "dist-tags": tags }) => {
        const { latest = "" } = tags;
        const { version, ...manifest } = versions[latest] as VersionManifest;
        const described = searchesNames ? { "dist-tags": tags } : { version, date: time[latest] };
        return { package: { ...manifest, ...described, maintainers: [], links: {} } };
      });
      answer(200, { objects, total: objects.length, time: "" });
    } else if (request.method === "PUT") {
      const { versions, [ATTACHMENTS]: attachments } = JSON.parse((await buffer(request)).toString()) as {
        versions: Record<string, VersionManifest>;
        [ATTACHMENTS]: Record<string, { data: string }>;
      };
      const [manifest] = Object.values(versions);
      const [attachment] = Object.values(attachments);
      add(manifest as VersionManifest, Buffer.from(attachment?.data ?? "", "base64"));
      answer(201, { ok: true });
    } else if (tarballs.has(path)) response.end(tarballs.get(path));
    else if (packuments.has(name)) answer(200, packuments.get(name) as Packument);
    else answer(404, { error: "not found" });
  };
  const server = createServer((request, response) => void respond(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    add,
    refuse: (status) => void (refused = status),
    searchNames: () => void (searchesNames = true),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns the content of an .npmrc for a project whose registry this is. */
export function npmrcOf({ url }: NpmRegistry): string {
  const host = url.replace("http:", "");
  return `registry=${url}\n${host}/:_authToken=secret\naudit=false\nfund=false\nupdate-notifier=false\n`;
}
