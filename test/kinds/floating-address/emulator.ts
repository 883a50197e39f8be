/** Floating addresses in the emulated service. They share nothing with the engine. */
import {
  acknowledge,
  answer,
  pathPart,
  projectOfCaller,
  type Reply,
  type Request,
  refuseWith,
} from "../../../emulator/decision";
import { readFields } from "../../../emulator/fields";
import { pageOf } from "../../../emulator/paging";
import { vmInWorld } from "../../../emulator/world";
import { drop, type Other, put, tableOf } from "../support/other-entities";

interface Address extends Other {
  readonly pool: string;
  readonly vm_id: string | null;
}

const table = ({ world }: Request) => tableOf<Address>(world, "address");

/** An address survives its VM, and leads nowhere then. */
function shown(request: Request, { id, name, pool, vm_id }: Address) {
  const vm = vm_id === null ? undefined : vmInWorld(request.world, projectOfCaller(request), vm_id, request.now);
  return { id, name, pool, vm_id: vm?.id ?? null };
}

function create(request: Request): Reply {
  const fields = readFields(request.body);
  const [name, pool] = [fields.requiredText("name"), fields.requiredText("pool")];
  if (fields.problems.length > 0) return refuseWith(400, fields.problems.join("; "));
  const own = { id: request.newId(), seq: request.world.nextSeq, project_id: projectOfCaller(request) };
  const made: Address = { ...own, name, pool, vm_id: null };
  return answer(201, shown(request, made), put("address", made));
}

function onOne(request: Request, then: (one: Address) => Reply): Reply {
  const one = table(request).get(pathPart(request));
  return one?.project_id === projectOfCaller(request)
    ? then(one)
    : refuseWith(404, "Address not found in this project");
}

const rename = (request: Request): Reply =>
  onOne(request, (one) => {
    const name = readFields(request.body).text("name") ?? one.name;
    return acknowledge("Address renamed", put("address", { ...one, name }));
  });

const assign = (request: Request): Reply =>
  onOne(request, (one) => {
    const id = readFields(request.body).requiredText("vm_id");
    if (shown(request, one).vm_id !== null) return refuseWith(409, "the address leads to a VM already");
    const vm = vmInWorld(request.world, projectOfCaller(request), id, request.now);
    return vm === undefined
      ? refuseWith(404, "VM not found in this project")
      : acknowledge("Address assigned", put("address", { ...one, vm_id: id }));
  });

const release = (request: Request): Reply =>
  onOne(request, (one) => acknowledge("Address released", put("address", { ...one, vm_id: null })));

const remove = (request: Request): Reply =>
  onOne(request, (one) =>
    shown(request, one).vm_id === null
      ? acknowledge("Address deleted", drop("address", one.id))
      : refuseWith(409, "the address leads to a VM"),
  );

const list = (request: Request): Reply =>
  pageOf(request, request.world.order.get(`address/${projectOfCaller(request)}`), (id) => {
    const one = table(request).get(id);
    return one === undefined ? undefined : shown(request, one);
  });

const one = "/api/v1/address/{id}";
const row = (method: string, path: string, decide: (request: Request) => Reply, availability = "documented") =>
  ({ method, path, decide, availability }) as const;

export const floatingAddressOperations = {
  "address.create": row("POST", "/api/v1/address", create),
  "address.update": row("PATCH", one, rename),
  "address.assign": row("POST", `${one}/assign`, assign),
  "address.release": row("POST", `${one}/release`, release),
  "address.delete": row("DELETE", one, remove),
  "address.get": row("GET", one, (request) => onOne(request, (found) => answer(200, shown(request, found)))),
  "address.list": row("GET", "/api/v1/address/list", list, "assumed"),
} as const;
