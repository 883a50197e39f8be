/** Key pairs in the emulated service, written from what a service would say of them and sharing nothing with the engine. */
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
import { drop, type Other, put, tableOf } from "../support/other-entities";

interface KeyPair extends Other {
  readonly public_key: string;
  readonly comment: string | null;
}

const tables = (request: Request) => tableOf<KeyPair>(request.world, "key_pair");
const shown = ({ id, name, public_key, comment }: KeyPair) => ({ id, name, public_key, comment });

function create(request: Request): Reply {
  const fields = readFields(request.body);
  const [name, key] = [fields.requiredText("name"), fields.requiredText("public_key")];
  const comment = fields.text("comment");
  if (fields.problems.length > 0) return refuseWith(400, fields.problems.join("; "));
  const project_id = projectOfCaller(request);
  for (const one of tables(request).values())
    if (one.project_id === project_id && one.name === name) return refuseWith(409, "the name is taken already");
  const own = { id: request.newId(), seq: request.world.nextSeq, project_id, name };
  const made: KeyPair = { ...own, public_key: key, comment: comment ?? null };
  return answer(201, shown(made), put("key_pair", made));
}

function onOne(request: Request, then: (one: KeyPair) => Reply): Reply {
  const one = tables(request).get(pathPart(request));
  return one?.project_id === projectOfCaller(request)
    ? then(one)
    : refuseWith(404, "Key pair not found in this project");
}

const update = (request: Request): Reply =>
  onOne(request, (one) => {
    const comment = readFields(request.body).text("comment") ?? null;
    return acknowledge("Key pair updated", put("key_pair", { ...one, comment }));
  });

export const keyPairOperations = {
  "key_pair.create": { method: "POST", path: "/api/v1/key-pair", availability: "documented", decide: create },
  "key_pair.update": { method: "PATCH", path: "/api/v1/key-pair/{id}", availability: "documented", decide: update },
  "key_pair.delete": {
    method: "DELETE",
    path: "/api/v1/key-pair/{id}",
    availability: "documented",
    decide: (request: Request) => onOne(request, ({ id }) => acknowledge("Key pair deleted", drop("key_pair", id))),
  },
  "key_pair.get": {
    method: "GET",
    path: "/api/v1/key-pair/{id}",
    availability: "documented",
    decide: (request: Request) => onOne(request, (one) => answer(200, shown(one))),
  },
  "key_pair.list": {
    method: "GET",
    path: "/api/v1/key-pair/list",
    availability: "assumed",
    decide: (request: Request) =>
      pageOf(request, request.world.order.get(`key_pair/${projectOfCaller(request)}`), (id) => {
        const one = tables(request).get(id);
        return one === undefined ? undefined : shown(one);
      }),
  },
} as const;
