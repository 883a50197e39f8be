/**
 * A plan with every consent it needs: the only thing that can be carried out. It is made here alone, so no caller gets
 * around a consent, and it knows what exactly may be lost while it runs.
 */
import { type Consent, type Grants, missingConsents } from "./consent";
import type { Plan } from "./plan";

/** The plan needs consents that were not given; nothing was sent and nothing was written. */
export class ConsentMissing extends Error {
  override readonly name = "ConsentMissing";
  readonly code = "consent/missing";
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
    /** What prevent_destroy protects may go: only where nothing is lost by it. */
    readonly endsProtected: boolean,
    private readonly flushed: ReadonlySet<string>,
  ) {
    this.#losses = new Set(
      plan.consents.flatMap(({ loss }) => (loss?.id === undefined ? [] : [keyOf(loss.disk, loss.id)])),
    );
  }

  /** Throws ConsentMissing with everything that is missing. */
  static of(plan: Plan, grants: Grants): PermittedPlan {
    const missing = missingConsents(plan.consents, grants);
    if (missing.length > 0) throw new ConsentMissing(missing);
    return new PermittedPlan(plan, false, new Set(grants.confirmFlush));
  }

  /** On a twin of the world nothing is lost, so nobody is asked. */
  static onTwin(plan: Plan): PermittedPlan {
    return new PermittedPlan(plan, true, new Set(["all"]));
  }

  /** Only what the plan listed by its id. */
  mayLose(disk: "root" | "volume", id: string): boolean {
    return this.#losses.has(keyOf(disk, id));
  }

  /** The user says that what comes off, or outlives, this address is flushed. */
  isFlushConfirmed(address: string): boolean {
    return this.flushed.has("all") || this.flushed.has(address);
  }
}

const keyOf = (disk: string, id: string): string => `${disk}:${id}`;
