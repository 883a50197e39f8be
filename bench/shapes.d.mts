// For the tests that count the same shapes (test/guard).
export const shapes: Record<"flat" | "chained" | "for_each" | "mutual", (resources: number) => string>;
export function fleet(vms: number, groups: number, pollInterval: string): string;
