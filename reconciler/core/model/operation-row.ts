/** What the row of an operation says (operation.ts). */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * What happens when a request is sent twice: a read changes nothing, a delete ends the same, a write may do its work
 * twice.
 */
export type RequestKind = "read" | "delete" | "write";

/** What is done when a deployment lacks an operation. Every fallback is complete in itself; none of them guesses. */
export interface Fallback {
  /** What cannot be known or done without the operation. */
  readonly cost: string;
  /** What is done in place of the operation. */
  readonly instead: string;
}

export interface OperationRow {
  readonly method: Method;
  /** Below the base URL, with a placeholder for each id. */
  readonly path: string;
  /** The kind belongs to the operation and not to the method, which a dialect may choose freely. */
  readonly kind: RequestKind;
  /** The method of the service's client. */
  readonly call: string;
  /** The request names one resource, has no body, and its answer says nothing but that it was accepted. */
  readonly sends?: "id";
  /** No earlier list tells the truth after it: it takes something away, or gives a name. */
  readonly removes?: true;
  /** How long it is expected to take with its wait; half a second where nothing is said. */
  readonly estimateMs?: number;
  /** The operation is beyond the contract. `builtIn`: it is taken to exist until a dialect says otherwise. */
  readonly assumed?: {
    readonly builtIn: boolean;
    readonly about: string;
    /** The name under which decisions ask whether a deployment has it (abilities.ts). */
    readonly ability?: string;
  } & Fallback;
  /** For a list: where its array is looked for. */
  readonly items?: readonly string[];
  /** Other paths at which services commonly have this read. */
  readonly alsoAt?: readonly string[];
}
