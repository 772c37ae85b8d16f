/** Client of the server process. */
export interface ClientSink {
  /**
   * Writes a serialised MultiplexResponse. Returns false when the client accepts no more until `drained` is called.
   * @param onSent called when the frame has left the process
   */
  write(frame: Buffer, onSent: () => void): boolean;
  /** Stops or continues to read the client's requests. */
  read(isReading: boolean): void;
  /** Ends the client's stream. @param failure a text that a worker gave, or an error */
  fail(failure: string | Error): void;
  /** Ends the stream of a client that sends no more requests and has all responses. */
  end(): void;
}
