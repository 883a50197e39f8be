/**
 * Who is calling, and what the contract permits them. Authentication decides the caller and the one project every
 * operation acts in; permissions concern security groups and the renaming of VMs, the only operations whose contract
 * names a forbidden case.
 */
import type { Group, ProjectRole, User, Vm } from "./entities";
import { firstUnder, type World } from "./world";

export interface RequestCaller {
  readonly email: string;
  /** The project in which the operation acts; undefined: the caller belongs to none. */
  readonly projectId: string | undefined;
  readonly role: ProjectRole | undefined;
  readonly active: boolean;
  readonly systemAdmin: boolean;
}

/** Undefined: the credential is missing or, in a strict world, unknown. */
export function authenticate(
  world: World,
  authorization: string | undefined,
  strict: boolean,
): RequestCaller | undefined {
  const credential = (authorization ?? "").trim();
  const token = /^bearer\s*$/i.test(credential) ? "" : credential.replace(/^bearer\s+/i, "");
  if (token === "") return undefined;
  const known = firstUnder(world, `user/token/${token}`) ?? (strict ? undefined : openUser(world));
  const user = known === undefined ? undefined : world.tables.user.get(known);
  return user === undefined ? undefined : callerOf(world, user);
}

/** In an open world every credential is accepted, and stands for the first owner who is no special case. */
const openUser = (world: World): string | undefined =>
  firstUnder(world, "user/called/ops@acme.example") ?? world.tables.user.keys().next().value;

function callerOf(world: World, user: User): RequestCaller {
  const membership = user.memberships[0];
  const anyProject = user.system_admin ? world.tables.project.keys().next().value : undefined;
  return {
    email: user.email,
    projectId: membership?.project_id ?? anyProject,
    role: membership?.role,
    active: membership?.active ?? user.system_admin,
    systemAdmin: user.system_admin,
  };
}

const leadsProject = (caller: RequestCaller): boolean =>
  caller.systemAdmin || (caller.active && (caller.role === "owner" || caller.role === "admin"));

/** Members touch only the groups they created; owners, admins and system admins any group of the project. */
export const mayEditGroup = (caller: RequestCaller, group: Group): boolean =>
  leadsProject(caller) || (caller.active && caller.email === group.created_by);

export const mayCreateGroup = (caller: RequestCaller): boolean => caller.active;

export const mayRenameVm = (caller: RequestCaller, vm: Vm): boolean =>
  leadsProject(caller) || (caller.active && caller.email === vm.owner);
