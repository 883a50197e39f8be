/** Lists that do not show everything, with and without a sign of it. */
import { type Answer, type Asked, itemsOf, type OtherService } from "./other-service";

const lists: readonly string[] = [
  "vm.list",
  "volume.list",
  "group.list",
  "group.rule.list",
  "image.list",
  "flavor.list",
];
export const isList = ({ operation }: Pick<Asked, "operation">): boolean => lists.includes(operation);

/** Of the items read so far, all of them, and the answer without them. */
type Cut = (shown: readonly unknown[], all: readonly unknown[], answer: Answer) => Answer;

/** How a service may say that there is more, in ways that the built-in dialect does not follow. */
export const signs: Readonly<Record<string, Cut>> = {
  NextToken: (shown, _all, answer) => ({ ...answer, body: { data: shown, NextToken: "b3BlbnNlc2FtZQ" } }),
  "next beside the items": (shown, _all, answer) => ({ ...answer, body: { items: shown, next: "/next/2" } }),
  "a Link header": (shown, _all, answer) => ({
    ...answer,
    headers: { ...answer.headers, link: '</api/v1/next?marker=2>; rel="next"' },
    body: { data: shown },
  }),
  has_more: (shown, _all, answer) => ({ ...answer, body: { data: shown, has_more: true } }),
  "a larger total": (shown, all, answer) => ({ ...answer, body: { data: shown, page: { total_size: all.length } } }),
  "*_links": (shown, _all, answer) => ({
    ...answer,
    body: { data: shown, servers_links: [{ rel: "next", href: "https://elsewhere.example/next" }] },
  }),
};

/** Nobody can tell that anything is missing. */
export const withoutSign: Cut = (shown, _all, answer) => ({ ...answer, body: { data: shown } });

/** After so many items; a list that has no more is told as it is. */
export const cutList = (after: number, cut: Cut, which: (asked: Asked) => boolean = () => true): OtherService => ({
  tell(asked, answer) {
    const all = itemsOf(answer);
    if (!isList(asked) || !which(asked) || all === undefined || all.length <= after) return undefined;
    return cut(all.slice(0, after), all, { status: answer.status });
  },
});

/** What was created is in its list only after so many looks. */
export function lateLists(looks: number): OtherService {
  const known = new Set<string>();
  const waits = new Map<string, number>();
  let opened = false;
  return {
    hear(_asked, truth) {
      if (opened) return undefined;
      opened = true;
      const { vms, volumes, groups } = truth.dump();
      for (const { id } of [...vms, ...volumes, ...groups]) known.add(id);
      return undefined;
    },
    tell(asked, answer) {
      const all = itemsOf(answer);
      if (all === undefined || !["vm.list", "volume.list", "group.list"].includes(asked.operation)) return undefined;
      const shown = all.filter((item) => {
        const id = idOf(item);
        if (id === undefined || known.has(id)) return true;
        const left = waits.get(id) ?? looks;
        waits.set(id, left - 1);
        return left <= 0;
      });
      return { status: 200, body: { data: shown } };
    },
  };
}

export const idOf = (item: unknown): string | undefined =>
  typeof item === "object" && item !== null && "id" in item && typeof item.id === "string" ? item.id : undefined;
