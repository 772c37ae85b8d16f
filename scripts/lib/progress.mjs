/**
 * Prints the title and the duration of a slow step on stderr, and returns its result.
 * A line every 15 seconds shows that a step without output still runs.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} step
 * @returns {Promise<T>}
 */
export async function progress(title, step) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;
  console.error(`> ${title}`);
  const heartbeat = setInterval(() => console.error(`  ... ${title} (${seconds()})`), 15_000);
  try {
    const answer = await step();
    console.error(`  done in ${seconds()}`);
    return answer;
  } finally {
    clearInterval(heartbeat);
  }
}
