// Child of main.ts: plays episodes of the calculator, the web tool and the file tools at the same time in this process.
import calculator from "@mrlm/tool-calculator";
import files from "@mrlm/tool-files";
import web from "@mrlm/tool-web";
import { type Episode, openEpisode, openHost } from "./session.ts";

const EPISODES = 1000;

const host = await openHost([calculator, files, web]);
let failed = 0;
const attempt = async (work: Promise<unknown>): Promise<void> =>
  await work.then(
    () => undefined,
    (error: unknown) => {
      failed++;
      if (failed <= 3) console.error(error);
    },
  );

const begun = performance.now();
// All episodes are open before the first one ends.
const opened = await Promise.allSettled(
  Array.from({ length: EPISODES }, () => openEpisode(host, ["calculator@1", "files@1", "web@1"], true)),
);
const episodes = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
for (const each of opened) if (each.status === "rejected") await attempt(Promise.reject(each.reason));
await Promise.all(episodes.map((episode) => attempt(play(episode))));
const seconds = (performance.now() - begun) / 1000;
await new Promise((resolve) => process.send?.({ episodes: episodes.length, failed, seconds }, resolve));
await Promise.all(episodes.map(async (episode) => await episode.close()));
await host.close();
process.disconnect();

/** Plays an episode of seven turns: its own notes, a search, a page, a sum, a file that is written and read. */
async function play(episode: Episode): Promise<void> {
  const number = Number(/\d+/.exec(await episode.call("read_file", { path: "notes.txt" }))?.[0]);
  const found = await episode.call("search", { query: "code harbour granite river" });
  const url = /https:\S+\.html/.exec(found)?.[0];
  if (url === undefined) throw new Error(`no page was found: ${found}`);
  const page = await episode.call("fetch", { url });
  const code = Number(/The code of \w+ is (\d+)/.exec(page)?.[1]);
  const table = await episode.call("search_files", { text: String(number + 7), path: "data" });
  if (!table.includes(String(number + 7))) throw new Error(`the table of episode ${number} is wrong: ${table}`);
  const sum = await episode.call("calculator", { expression: `${code} - 10 * ${number} + 1/4` });
  if (!["0.25", "1.25", "2.25"].includes(sum)) throw new Error(`episode ${number} has the page of another: ${sum}`);
  await episode.call("write_file", { path: "result/answer.txt", content: sum });
  if ((await episode.call("read_file", { path: "result/answer.txt" })) !== sum) throw new Error("the file is wrong");
}
