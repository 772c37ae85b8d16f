// Collects the pages of the site: docs/, the READMEs of the packages, and the reference of the TypeScript interfaces, which typedoc writes from the sources.
// The pages are copies with a title in front and links between pages of the site; the Markdown of the repository stays the only source.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const site = fileURLToPath(new URL(".", import.meta.url));
const root = join(site, "../..");
const output = join(site, "src/content/docs");
const api = ".api";

/** Packages whose interfaces authors and operators use. */
const INTERFACES = ["core/spec", "core/kit", "core/testing", "core/client", "core/server", "core/runtime"];

rmSync(output, { recursive: true, force: true });
writeInterfaces();
const pages = new Map([
  ...markdownIn(root, "docs")
    .filter((path) => !path.startsWith("docs/site/"))
    .map((path) => [path, slugOf(path)]),
  ["README.md", "overview"],
  ["CONTRIBUTING.md", "contributing"],
  ["SECURITY.md", "security"],
  ["CHANGELOG.md", "changelog"],
  ...["core", "environments", "plugins", "algorithms", "examples"].flatMap((folder) =>
    markdownIn(root, folder)
      .filter((path) => path.endsWith("/README.md"))
      .map((path) => [path, `packages/${dirname(path)}`]),
  ),
  ...markdownIn(site, api).map((path) => [`docs/site/${path}`, apiSlug(path)]),
]);
for (const [path, slug] of pages) writePage(path, slug);
console.error(`${pages.size} pages in ${output}`);

/** Writes the reference of the interfaces as Markdown. */
function writeInterfaces() {
  rmSync(join(site, api), { recursive: true, force: true });
  const entries = INTERFACES.flatMap((folder) => {
    const { exports = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return Object.values(exports)
      .flatMap((each) => each["mrlm-source"] ?? [])
      .map((file) => join(root, folder, file));
  });
  const tsconfig = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: true,
      composite: false,
      emitDeclarationOnly: false,
      declaration: false,
      customConditions: ["mrlm-source"],
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: false,
      typeRoots: [join(root, "node_modules/@types")],
      skipLibCheck: true,
    },
    files: entries,
  };
  mkdirSync(join(site, api), { recursive: true });
  writeFileSync(join(site, api, "tsconfig.json"), JSON.stringify(tsconfig));
  const options = {
    tsconfig: join(site, api, "tsconfig.json"),
    entryPoints: entries,
    out: join(site, api, "pages"),
    plugin: ["typedoc-plugin-markdown"],
    readme: "none",
    name: "Interfaces",
    githubPages: false,
    disableSources: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    excludeInternal: true,
    excludeExternals: true,
    sort: ["source-order"],
    skipErrorChecking: true,
    logLevel: "Error",
    router: "module",
    entryFileName: "index",
    useCodeBlocks: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    typeDeclarationFormat: "table",
  };
  writeFileSync(join(site, api, "typedoc.json"), JSON.stringify(options));
  execFileSync(
    process.execPath,
    [join(site, "node_modules/typedoc/bin/typedoc"), "--options", join(site, api, "typedoc.json")],
    { cwd: site, stdio: ["ignore", 2, 2] },
  );
}

/** @param {string} base @param {string} folder @returns {string[]} */
function markdownIn(base, folder) {
  return readdirSync(join(base, folder), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
    .filter((path) => path.endsWith(".md") && !/(^|\/)(node_modules|dist|runs|test|fixtures)\//.test(path))
    .sort();
}

/** @param {string} path */
function slugOf(path) {
  const slug = path.replace(/^docs\//, "").replace(/\.md$/, "");
  if (slug === "README") return "index";
  return slug.replace(/\/README$/, "").toLowerCase();
}

/** @param {string} path */
function apiSlug(path) {
  return posix.join("reference/api", interfaceName(path).toLowerCase());
}

/** Returns the entry of a page of typedoc: `kit/http`; "" for the list of all. @param {string} path */
function interfaceName(path) {
  return path
    .replace(/^.*\/pages\//, "")
    .replace(/\.md$/, "")
    .replace(/(^|\/)index$/, "")
    .replace("/src", "");
}

/** @param {string} path @param {string} slug */
function writePage(path, slug) {
  const text = readFileSync(join(root, path), "utf8");
  const isInterface = path.includes(`/${api}/`);
  const name = isInterface ? interfaceName(path) : undefined;
  const title =
    name === undefined ? (/^# (.+)$/m.exec(text)?.[1] ?? slug) : name === "" ? "Interfaces" : `@mrlm/${name}`;
  const body = text.replace(/^# .+\n/m, "").replaceAll(/^<!-- code\n[^]*?-->\n+/gm, "");
  const linked = body.replaceAll(
    /(`{3,}[^]*?`{3,}|`[^`\n]*`)|(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]*)(#[^)\s]*)?\)/g,
    (all, code, image, label, target, anchor = "") => {
      if (code !== undefined) return all;
      if (image === "!") {
        // The picture lies beside the copied page as it does beside the page.
        const copy = join(output, dirname(slug), target);
        mkdirSync(dirname(copy), { recursive: true });
        cpSync(join(root, dirname(path), target), copy);
        return all;
      }
      const page = pageOf(path, decodeURI(target));
      // A file of the sources has no page: its name stays.
      return page === undefined ? label : `[${label}](/${page === "index" ? "" : `${page}/`}${anchor})`;
    },
  );
  const description = /^(?![#|`<[-])(.{20,160}?[.:])(\s|$)/m.exec(linked)?.[1];
  const front = {
    title: title.replaceAll("`", ""),
    ...(description !== undefined && {
      description: description.replaceAll(/[`*]/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"),
    }),
  };
  const file = join(output, `${slug}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `---\n${Object.entries(front)
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
      .join("\n")}\n---\n${linked}`,
  );
}

/** Returns the page of a link target. @param {string} from @param {string} target */
function pageOf(from, target) {
  const path = target === "" ? from : posix.join(posix.dirname(from), target).replace(/\/$/, "");
  const candidates = [path, `${path}/README.md`, `${path}/index.md`, `${path}.md`];
  const found = candidates.find((candidate) => pages.has(candidate));
  if (found === undefined && !existsSync(join(root, path)))
    throw new Error(`${from}: a link leads to ${path}, which does not exist`);
  return found === undefined ? undefined : pages.get(found);
}
