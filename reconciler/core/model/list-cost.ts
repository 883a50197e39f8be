/** What a list costs beside reads of one thing at a time. */
export interface ListCost {
  readonly pageItems: number;
  /** What a page costs, in reads of one. */
  readonly pageReads: number;
  /** How many pages the last whole list had. */
  readonly pages?: number;
}

/** Before anything is measured. */
export const usualListCost: ListCost = { pageItems: 100, pageReads: 1 };
