/** What the service shows of a group. */

/** A rule as the service returns it, in the service's own terms but with one spelling; canonical/rules.ts compares it. */
export interface LiveRule {
  readonly id: string;
  readonly direction: string;
  readonly ethertype?: string;
  readonly protocol?: string;
  readonly portMin?: number;
  readonly portMax?: number;
  readonly remoteIp?: string;
  readonly remoteGroupId?: string;
  readonly remoteAddressGroupId?: string;
  readonly description?: string;
  /** belongs_to_default_sg: made by the platform. */
  readonly platform?: boolean;
}

export interface LiveGroup {
  readonly kind: "group";
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly rules?: readonly LiveRule[];
}

/** What a plan compares, by its name in the file. */
export const comparedOfGroup: { readonly [F in keyof LiveGroup]?: string } = {
  name: "name",
  description: "description",
  rules: "rules",
};
