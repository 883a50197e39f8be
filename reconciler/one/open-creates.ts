/**
 * What a process wrote down about its creates, for the next one to find: a program's engine that is killed while a
 * create runs keeps nothing of it, and the next update would make the thing a second time.
 */
import type { Disk } from "../core/model/recorded";

export interface OpenCreate {
  /** ISO time at which the create was about to be sent. */
  readonly sentAt: string;
  /** The ids that already bore the name. */
  readonly idsBefore: readonly string[];
  readonly accepted?: true;
  /** What was made, once that is known. */
  readonly id?: string;
}

/** What a VM that is being deleted leaves behind, and its record in the program's state does not name. */
export interface OpenDelete {
  /** The VM. */
  readonly id: string;
  readonly disks: readonly Disk[];
}

/** The notes about one resource. */
export interface OpenCreateNotes {
  /** What a process that is no more left behind. Waits for one that is still at it. */
  find(signal: AbortSignal): Promise<OpenCreate | undefined>;
  /** Durable when it returns. */
  write(open: OpenCreate): void;
  /** Before the delete is sent, after which nothing else tells. Durable when it returns. */
  writeLeaving(open: OpenDelete): void;
  /** `undefined`: no delete of it was cut off. */
  findLeft(id: string): readonly Disk[] | undefined;
  /** The outcome was told to the engine, which keeps it unless it is gone. */
  told(): void;
  forget(): void;
}
