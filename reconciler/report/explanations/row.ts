export interface Explanation {
  readonly means: string;
  readonly todo: string;
}

export const row = (means: string, todo: string): Explanation => ({ means, todo });
