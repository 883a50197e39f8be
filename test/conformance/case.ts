/** What a conformance case is: clauses it holds, a sentence, what it needs of the service, and the calls that show it. */
import type { ClauseId } from "./clauses";
import type { Role } from "./client";
import type { Context } from "./context";

/**
 * vm: VMs can be made and their ids learnt; assumed: the case judges what only our emulator must do;
 * control: the emulator's control endpoint; the others as they say.
 */
export type Need =
  | "vm"
  | "catalogue"
  | "other flavor"
  | "sold-out flavor"
  | "username"
  | "assumed"
  | "control"
  | `role ${Exclude<Role, "caller">}`
  | `operation ${string}`;

export interface ConformanceCase {
  readonly clauses: readonly ClauseId[];
  readonly title: string;
  readonly needs?: readonly Need[];
  run(context: Context): Promise<void>;
}

export const titleOf = ({ clauses, title }: ConformanceCase): string => `${clauses.join(", ")}: ${title}`;
