/** Floating addresses in the emulated service. They share nothing with the engine. */
import {
  acknowledge,
  answer,
  type Decision,
  pathPart,
  projectOf,
  type Request,
  refuse,
} from "../../../emulator/decision";
import { readFields } from "../../../emulator/fields";
import { pageOf } from "../../../emulator/paging";
import { findVm } from "../../../emulator/world";
import { drop, type Other, put, tableOf } from "../support/other-entities";

interface Address extends Other {
  readonly pool: string;
  readonly vm_id: string | null;
}

const table = ({ world }: Request) => tableOf<Address>(world, "address");

/** An address survives its VM, and leads nowhere then. */
function shown(request: Request, { id, name, pool, vm_id }: Address) {
  const vm = vm_id === null ? undefined : findVm(request.world, projectOf(request), vm_id, request.now);
  return { id, name, pool, vm_id: vm?.id ?? null };
}

function create(request: Request): Decision {
  const fields = readFields(request.body);
  const [name, pool] = [fields.requiredText("name"), fields.requiredText("pool")];
  if (fields.problems.length > 0) return refuse(400, fields.problems.join("; "));
  const own = { id: request.newId(), seq: request.world.nextSeq, project_id: projectOf(request) };
  const made: Address = { ...own, name, pool, vm_id: null };
  return answer(201, shown(request, made), put("address", made));
}

function onOne(request: Request, then: (one: Address) => Decision): Decision {
  const one = table(request).get(pathPart(request));
  return one?.project_id === projectOf(request) ? then(one) : refuse(404, "Address not found in this project");
}

const rename = (request: Request): Decision =>
  onOne(request, (one) => {
    const name = readFields(request.body).text("name") ?? one.name;
    return acknowledge("Address renamed", put("address", { ...one, name }));
  });

const assign = (request: Request): Decision =>
  onOne(request, (one) => {
    const id = readFields(request.body).requiredText("vm_id");
    if (shown(request, one).vm_id !== null) return refuse(409, "the address leads to a VM already");
    const vm = findVm(request.world, projectOf(request), id, request.now);
    return vm === undefined
      ? refuse(404, "VM not found in this project")
      : acknowledge("Address assigned", put("address", { ...one, vm_id: id }));
  });

const release = (request: Request): Decision =>
  onOne(request, (one) => acknowledge("Address released", put("address", { ...one, vm_id: null })));

const remove = (request: Request): Decision =>
  onOne(request, (one) =>
    shown(request, one).vm_id === null
      ? acknowledge("Address deleted", drop("address", one.id))
      : refuse(409, "the address leads to a VM"),
  );

const list = (request: Request): Decision =>
  pageOf(request, request.world.order.get(`address/${projectOf(request)}`), (id) => {
    const one = table(request).get(id);
    return one === undefined ? undefined : shown(request, one);
  });

const one = "/api/v1/address/{id}";
const row = (method: string, path: string, decide: (request: Request) => Decision, availability = "documented") =>
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
