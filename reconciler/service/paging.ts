/**
 * Where the next page of a list is. A URL or a path is followed on the same origin alone (the credential goes along);
 * anything else is sent as the dialect's parameter.
 */
export interface PageRequest {
  readonly origin: string;
  /** The path of the base URL, without a slash at its end. */
  readonly basePath: string;
  /** The first page's, and the one just read. */
  readonly firstPath: string;
  readonly currentPath: string;
  readonly param: string;
}

export type NextPage = { readonly path: string } | { readonly problem: string };

export const mostPages = 10_000;

/** How often a list that changes while it is read is read from its start. */
export const mostPasses = 3;

export function nextPage(next: string, request: PageRequest): NextPage {
  const { origin, basePath } = request;
  const target = next.trim();
  let url: URL;
  try {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target) || target.startsWith("//")) url = new URL(target, origin);
    else if (target.startsWith("/"))
      url = new URL(basePath === "" || target.startsWith(`${basePath}/`) ? target : basePath + target, origin);
    else if (target.startsWith("?")) url = new URL(request.currentPath.split("?")[0] + target, origin);
    else {
      url = new URL(request.firstPath, origin);
      url.searchParams.set(request.param, target);
    }
  } catch {
    return { problem: "the next page is at something that is not a URL" };
  }
  if (url.origin !== origin)
    return { problem: `the next page is on ${url.host}, and the credential is not sent to another host` };
  return { path: url.pathname + url.search };
}
