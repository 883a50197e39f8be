/**
 * What a process wrote down about its creates, for the next one to find: a program's engine that is killed while a
 * create runs keeps nothing of it, and the next update would make the thing a second time.
 */
export interface OpenCreate {
  /** ISO time at which the create was about to be sent. */
  readonly sentAt: string;
  /** The ids that already bore the name. */
  readonly idsBefore: readonly string[];
  readonly accepted?: true;
  /** What was made, once that is known. */
  readonly id?: string;
}

/** The notes about one resource. */
export interface OpenCreateNotes {
  /** What a process that is no more left behind. Waits for one that is still at it. */
  find(signal: AbortSignal): Promise<OpenCreate | undefined>;
  /** Durable when it returns. */
  write(open: OpenCreate): void;
  /** The outcome was told to the engine, which keeps it unless it is gone. */
  told(): void;
  forget(): void;
}
