/**
 * Notes of a process about its creates, for the next process to find: a program's engine that is killed during a create
 * keeps nothing of it, and without the notes the next update would make the resource a second time.
 */
import type { Disk } from "../core/model/recorded";

export interface OpenCreate {
  /** ISO time at which the create was about to be sent. */
  readonly sentAt: string;
  /** The ids of the resources that had the name before. */
  readonly idsBefore: readonly string[];
  readonly accepted?: true;
  /** The id of what was made, once that is known. */
  readonly id?: string;
}

/** What a VM that is being deleted leaves behind and the record in the program's state does not name. */
export interface OpenDelete {
  /** The id of the VM. */
  readonly id: string;
  readonly disks: readonly Disk[];
}

/** The notes about one resource. */
export interface OpenCreateNotes {
  /** The note that a dead process left behind. Waits for a process that is still working on it. */
  find(signal: AbortSignal): Promise<OpenCreate | undefined>;
  /** Durable when it returns. */
  write(open: OpenCreate): void;
  /** Written before the delete is sent, after which nothing else shows what was attached. Durable when it returns. */
  writeLeaving(open: OpenDelete): void;
  /** `undefined`: no delete of the VM was cut off. */
  findLeft(id: string): readonly Disk[] | undefined;
  /** The outcome was told to the engine, which keeps it unless the engine is gone. */
  told(): void;
  forget(): void;
}
