/** What the service shows of a volume. */
export interface LiveVolume {
  readonly kind: "volume";
  readonly id: string;
  readonly name?: string;
  readonly sizeGb?: number;
  readonly status?: string;
  readonly failed: boolean;
  /** Only the dialect can say whether the service means "deleted" by this state, and it does not. */
  readonly unsaid?: true;
  /** The volume is in transition: being made, attached, detached, resized or deleted. */
  readonly changing?: true;
  /**
   * The id of the VM that the volume hangs on. `null`: the record shows that it hangs on none. `undefined`: the record
   * does not show it.
   */
  readonly attachedTo?: string | null;
}

/** What a plan compares, by its name in the file. */
export const comparedOfVolume: { readonly [F in keyof LiveVolume]?: string } = {
  name: "name",
  sizeGb: "size",
  attachedTo: "attach_to",
};
