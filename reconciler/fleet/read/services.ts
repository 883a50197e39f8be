/** What all stacks share: services, tenants, windows, receivers, sign-in, and how long history is kept. */

import type { Path } from "../../config/yaml/file";
import { dayMs } from "../../core/model/time";
import { onlyDefined } from "../../core/text/objects";
import { type AddressFault, addressFault, withoutPassword } from "../../core/text/outside-policy";
import type {
  Channel,
  ChannelTarget,
  FleetService,
  FleetSettings,
  FleetWindow,
  History,
  Receiver,
  SignIn,
  Tenant,
} from "../model";
import { usualHistory } from "../model";
import { duration, holdsPassword, passwordIn, type Reader } from "./reader";
import type {
  HistoryBlock,
  NotifyBlock,
  ReceiverBlock,
  ServiceBlock,
  SignInBlock,
  TenantBlock,
  WindowBlock,
} from "./rows";

export function readService(name: string, block: ServiceBlock, { at, problems, reading, file }: Reader): FleetService {
  const { base_url, dialect, budget, concurrency, credential, insecure_http, time_scale } = block;
  if (holdsPassword(base_url))
    problems.push(passwordIn("base_url", at(["services", name, "base_url"]), "name it under credential instead"));
  return {
    name,
    baseUrl: base_url,
    // The name of a dialect that comes with the package is no path.
    ...onlyDefined({
      dialect: dialect === undefined ? undefined : /[./]/.test(dialect) ? reading.resolvePath(file, dialect) : dialect,
      budget:
        budget === undefined
          ? undefined
          : {
              perSecond: budget.requests_per_second,
              burst: budget.burst ?? Math.max(1, Math.floor(budget.requests_per_second)),
            },
      concurrency,
      credential,
    }),
    insecureHttp: insecure_http === true,
    ...onlyDefined({ timeScale: time_scale }),
  };
}

export function readSignIn(block: SignInBlock, { at, problems }: Reader): SignIn {
  const { issuer, client_id, client_secret, url, scopes = ["profile", "email"], name = "email", roles } = block;
  for (const [field, value] of Object.entries({ issuer, url })) {
    const fault = addressFault(URL.canParse(value) ? new URL(value) : null, false);
    if (fault !== undefined)
      problems.push({
        code: "fleet/bad-sign-in",
        summary: `the ${field} of sign_in ${placeFaults[fault]}`,
        fix: `write an address that begins with https://; http:// is for this machine alone`,
        at: at(["sign_in", field]),
        withoutExcerpt: fault === "holds_a_credential" || withoutPassword(value) !== value,
      });
  }
  return {
    issuer,
    clientId: client_id,
    ...onlyDefined({ clientSecret: client_secret }),
    url: url.replace(/\/+$/, ""),
    scopes,
    nameClaim: name,
    roles: roles.map(({ role, stacks = [], claim, is }) =>
      claim === undefined || is === undefined ? { role, stacks } : { role, stacks, claim, is },
    ),
    ...onlyDefined({ acceptUnverifiedEmail: block.accept_unverified_email === true ? true : undefined }),
  };
}

/** Addresses to which tokens or cookies must not be sent. */
const placeFaults: Readonly<Record<AddressFault, string>> = {
  no_url: "is no address",
  neither_http_nor_https: "is neither http nor https",
  holds_a_credential: "holds a name or a password",
  in_the_clear: "is not encrypted",
  has_a_query: "holds more than a place",
};

export const readTenant = (name: string, { weight = 1, max_running, may_read, trusted }: TenantBlock): Tenant => ({
  name,
  weight,
  ...onlyDefined({ maxRunning: max_running, trusted: trusted === true ? trusted : undefined, mayRead: may_read }),
});

export function readWindow(block: WindowBlock, path: Path, reader: Reader): FleetWindow {
  const timeZone = block.time_zone ?? "UTC";
  const problem = reader.reading.scheduleProblem(block.schedule, timeZone);
  if (problem !== undefined)
    reader.problems.push({
      code: "fleet/bad-schedule",
      summary: `the schedule ${JSON.stringify(block.schedule)} cannot be read: ${problem}`,
      fix: 'write five fields as in cron, such as "0 18 * * 5" for Fridays at 18:00, and a time zone such as Europe/Berlin',
      at: reader.at([...path, "schedule"]),
    });
  return {
    kind: block.kind,
    schedule: block.schedule,
    timeZone,
    ...lengthOf(block.duration),
    stacks: block.stacks ?? [],
    actions: block.actions ?? ["apply"],
  };
}

/** A day may have 23 or 25 hours. */
function lengthOf(text: string): Pick<FleetWindow, "durationMs" | "days"> {
  const days = Number(/^([0-9]+)d$/.exec(text)?.[1] ?? Number.NaN);
  return Number.isNaN(days) ? { durationMs: duration(text) } : { durationMs: days * dayMs, days };
}

export const readHistory = ({ quiet, changes }: HistoryBlock): History => ({
  quietMs: quiet === undefined ? usualHistory.quietMs : duration(quiet),
  changesMs: changes === undefined ? usualHistory.changesMs : duration(changes),
});

/** Webhooks, and those that are told in words of their own. */
export function readNotify(
  blocks: readonly NotifyBlock[],
  { at, problems }: Reader,
): Pick<FleetSettings, "receivers"> & { readonly channels: readonly Channel[] } {
  const receivers: Receiver[] = [];
  const channels: Channel[] = [];
  for (const [index, { on, stacks = [], to }] of blocks.entries()) {
    if (typeof to.smtp === "string" && holdsPassword(to.smtp))
      problems.push(passwordIn("smtp", at(["notify", index, "to", "smtp"]), "write smtp: { env: NAME } instead"));
    // No request can be made to such an address.
    if (to.webhook !== undefined && holdsPassword(to.webhook))
      problems.push(
        passwordIn("webhook", at(["notify", index, "to", "webhook"]), "take it out; secret signs what a webhook gets"),
      );
    if (to.webhook !== undefined)
      receivers.push({ on, stacks, webhook: to.webhook, ...onlyDefined({ secret: to.secret }) });
    for (const target of targetsIn(to)) channels.push({ on, stacks, to: target });
  }
  return { receivers, channels };
}

const targetsIn = ({
  slack,
  teams,
  email,
  from = "",
  smtp = "",
  commit_status: status,
}: ReceiverBlock): ChannelTarget[] => [
  ...(slack === undefined ? [] : [{ kind: "slack", address: slack } as const]),
  ...(teams === undefined ? [] : [{ kind: "teams", address: teams } as const]),
  ...(email === undefined ? [] : [{ kind: "email", to: [email].flat(), from, smtp } as const]),
  ...(status === undefined ? [] : [{ kind: "commit_status", ...status } as const]),
];
