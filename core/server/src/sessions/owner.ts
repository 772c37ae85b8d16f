/**
 * Returns the owner of a session, the only client for which it exists. The name of a token has no line break.
 * @param client name of the client's token
 * @param secret id or key that the client alone knows, or else its address
 */
export function ownerOf(client: string | undefined, secret: string): string {
  return `${client ?? ""}\n${secret}`;
}
