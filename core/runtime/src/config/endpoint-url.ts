/** Requirement that a text fails for which {@link isEndpointUrl} is false. Messages do not quote the text. */
export const ENDPOINT_URL = "must be an http or https URL without a user, a password, a query or a fragment";

/** Whether a text is a URL that holds no secret: it is in the records of a run. */
export function isEndpointUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    ["http:", "https:"].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "")
  );
}
