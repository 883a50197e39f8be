/**
 * What a program has to remember outside its processes and outside Pulumi's state: a create that was sent while nobody
 * has seen the state keep its outcome, what a VM leaves behind whose delete was cut off, a VM that is stopped for a flush,
 * and which resource a thing belongs to that changed hands. Pulumi runs a process for each provider and may kill all of them, together with the
 * engine that was to keep what they answered. Nothing here has a date: a note goes when what it says was seen elsewhere.
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
  /** A former version of the resource is in the program's state, or was when the create was sent. */
  readonly hasFormer?: true;
  /** The program said `adopt: "none"` already when this create was sent, so that it says nothing of this one. */
  readonly saidNone?: true;
}

/** Another process makes the same resource: it is to be looked for once more before anything is sent. */
export class NotedMeanwhile extends Error {
  override readonly name = "NotedMeanwhile";
}

/** A create of the same kind and name that another resource of the program has sent. */
export interface ForeignCreate extends Pick<OpenCreate, "sentAt" | "id"> {
  /** The URN of the resource that has sent it. */
  readonly by: string;
}

/** A delete that was cut off, and what it leaves behind that the record in the program's state does not name. */
export interface OpenDelete {
  readonly id: string;
  readonly disks: readonly Disk[];
}

/** Who has taken something over that another resource may still name. */
export interface Claim {
  readonly owner: string;
  /** The URN of the resource. */
  readonly by: string;
}

/** The notes about one resource, and those about things, by the names that `thingAt` gives them. */
export interface ProgramNotes {
  /** The create that another process left behind. Waits for a process that is still working on it. */
  find(signal: AbortSignal): Promise<OpenCreate | undefined>;
  /**
   * Durable once it is over. `name`: of what is made. `thing`: what the id in the note names. Fails with
   * `NotedMeanwhile` where another process has noted a create since `find` looked.
   */
  write(open: OpenCreate, about?: { readonly name?: string; readonly thing?: string }): Promise<void>;
  /**
   * What a process that is gone has sent under another URN, and no state was seen to hold: the resource, its parent or
   * its stack may only have another name by now. Not what is another stack's that is there.
   */
  findForeign(name: string): ForeignCreate | undefined;
  /** The user has said what became of it. */
  settleForeign(name: string): void;
  /** The program does not say `adopt: "none"` any more: when it says so again, it says it of this create. */
  takeBackNone(): Promise<void>;
  /** Nothing is open any more: the create was refused, or the user has said what became of it. */
  settled(): void;
  /**
   * Pulumi's state was seen to hold this: the note about it is no longer needed, whichever resource it was made for. What
   * another note of this resource is about is not in that state. Nothing is forgotten while another engine is at work,
   * which may write a state of before over that one.
   * `sentAt`: of a create that the state itself keeps as open.
   */
  isInState(thing: string, sentAt: string | undefined): Promise<void>;
  /**
   * The engine deletes the former version, so that its state has the new one, which this process made. That of another
   * engine at work may still have the former one.
   */
  formerGoes(): Promise<void>;
  /** It was deleted, so that no note is about it any more. */
  isGone(thing: string): void;
  /** Written before the delete is sent, after which nothing else shows what was attached. Durable once it is over. */
  writeLeaving(open: OpenDelete): Promise<void>;
  /** `undefined`: no delete was cut off. */
  findLeft(id: string): readonly Disk[] | undefined;
  /**
   * The service refused the delete, or the program wants to keep what was to go. The end of a delete is no reason: an engine that was killed
   * meanwhile has not heard of it, and asks for the same delete again.
   */
  forgetLeaving(): void;
  /** Written before the VM with this id is stopped for a flush, to be started again. Durable once it is over. */
  writeStopped(vm: string): Promise<void>;
  /** The VM that this resource has stopped, and was not seen to run since. */
  findStopped(): string | undefined;
  forgetStopped(): void;
  /** The files of its component have taken it out of the program, and it is to stay in the service. */
  staysAlive(): boolean;
  claimOf(thing: string): Claim | undefined;
  /** Durable once it is over. `by`: this resource, where it is left out. */
  claim(thing: string, owner: string, by?: string): Promise<void>;
  unclaim(thing: string): void;
  /** Where the claim is written down, for a message. */
  claimAt(thing: string): string;
}
