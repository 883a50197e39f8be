/**
 * A plan with every consent that it needs: nothing else can be carried out. Only this file makes one, so no caller gets
 * around a consent, and it knows exactly what may be lost while it runs.
 */

import type { Address } from "../model/address";
import type { DiagnosticCode } from "../model/diagnostic-code";
import { type Consent, type Grants, missingConsents } from "./consent";
import type { Plan } from "./plan";

/** The plan needs consents that were not given; nothing was sent and nothing was written. */
export class ConsentMissing extends Error {
  override readonly name = "ConsentMissing";
  readonly code = "consent/missing" satisfies DiagnosticCode;
  constructor(readonly missing: readonly Consent[]) {
    super(
      `the plan needs what was not given: ${missing.map(({ detail, grant }) => `${detail} (${grant})`).join("; ")}`,
    );
  }
}

export class PermittedPlan {
  readonly #losses: ReadonlySet<string>;

  private constructor(
    readonly plan: Plan,
    /** `all`: on a twin nothing is lost. */
    private readonly unprotected: ReadonlySet<Address> | "all",
    private readonly flushed: ReadonlySet<string>,
  ) {
    this.#losses = new Set(
      plan.consents.flatMap(({ loss }) => (loss?.id === undefined ? [] : [keyOfDisk(loss.disk, loss.id)])),
    );
  }

  /** Throws ConsentMissing with everything that is missing. */
  static of(plan: Plan, grants: Grants): PermittedPlan {
    const missing = missingConsents(plan.consents, grants);
    if (missing.length > 0) throw new ConsentMissing(missing);
    return new PermittedPlan(
      plan,
      new Set([...(plan.unguarded ?? []), ...(grants.unprotect ?? [])]),
      new Set(grants.confirmFlush),
    );
  }

  /** On a twin of the world nothing is lost, so nobody is asked. */
  static onTwin(plan: Plan): PermittedPlan {
    return new PermittedPlan(plan, "all", new Set(["all"]));
  }

  /** Only losses that the plan listed by their ids. */
  mayLose(disk: "root" | "volume", id: string): boolean {
    return this.#losses.has(keyOfDisk(disk, id));
  }

  /** Whether a resource with prevent_destroy may be deleted, replaced or wiped in this run. */
  mayEnd(address: Address): boolean {
    return this.unprotected === "all" || this.unprotected.has(address);
  }

  /** Whether the user says that the volumes that come off, or outlive, this address are flushed. */
  isFlushConfirmed(address: string): boolean {
    return this.flushed.has("all") || this.flushed.has(address);
  }
}

const keyOfDisk = (disk: string, id: string): string => `${disk}:${id}`;
