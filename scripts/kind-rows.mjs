// How the rows of the tables in reconciler/core/model read in the schemas of desired states, states and plans.

/** The parts that write the fields of kinds, over tables such as those of fields.ts and kinds.ts. */
export function fillsOver({ fieldsOf, ignorable, kindRows }) {
  const ref = (name) => ({ $ref: `#/$defs/${name}` });
  const refs = { text: "text", remark: "text", name: "name", size: "size", flag: "boolean", reference: "reference" };

  /** The sentence after the description of a field that may be left out. */
  function leftOut({ field, type, absent }) {
    if (absent === "key") return " Left out: the key (key-each with for_each).";
    if (absent === "inherited") return ` Default: the file's ${field}.`;
    return typeof absent === "object" && typeof type === "string" ? ` Default: ${absent.value}.` : "";
  }

  /** The field as a file has it, where a value may be interpolated. */
  function fieldWritten(row) {
    const { type, absent } = row;
    const description = `${row.about}${leftOut(row)} A change: ${row.costs}.`;
    if (type === "flush") return ref("flush");
    if (type === "command") return { ...ref("guest_command"), description: row.about };
    if (type === "rules")
      return { description, anyOf: [{ type: ["array", "null"], items: ref("rule") }, ref("interpolated")] };
    if (typeof type === "string") return { ...ref(refs[type]), description };
    const preset = typeof absent === "object" ? { default: absent.value } : {};
    return { description, anyOf: [{ enum: [...type] }, ref("interpolated")], ...preset };
  }

  const values = {
    text: { type: "string" },
    remark: { type: "string" },
    name: { type: "string" },
    size: { type: "number" },
    flag: { type: "boolean" },
    flush: ref("flush"),
    command: ref("guest_command"),
    reference: ref("reference"),
    rules: { type: "array", items: ref("rule") },
  };

  /** The field as it is kept and sent: read, with its default filled in. */
  const kept = ({ type, about }) => {
    const value = typeof type === "string" ? values[type] : { enum: [...type] };
    return value.$ref === undefined ? { description: about, ...value } : value;
  };

  const mapped = (rows, shown) => Object.fromEntries(rows.map(([key, row]) => [key, shown(row)]));
  const byField = (rows) => rows.map(([, row]) => [row.field, row]);

  /** A kind that is its rows alone has the block, the defaults and the lifecycle that a volume has beside its rows. */
  function addUsual(kind, { $defs, properties }) {
    const { section, fullNoun } = kindRows[kind];
    for (const part of ["", "_defaults", "_lifecycle"])
      $defs[`${kind}${part}`] = renamedIn($defs[`volume${part}`], "volume", kind);
    properties[section] = {
      ...renamedIn(properties.volumes, "volume", kind),
      description: `Each ${fullNoun} by its key; the key is the last part of the address ${kind}.KEY.`,
    };
    $defs.defaults.properties[kind] = renamedIn($defs.defaults.properties.volume, "volume", kind);
  }

  const renamedIn = (schema, from, to) =>
    JSON.parse(JSON.stringify(schema).replaceAll(`#/$defs/${from}`, `#/$defs/${to}`));

  function fillDesired({ $defs, properties }) {
    for (const [kind, table] of Object.entries(fieldsOf)) {
      const { section } = kindRows[kind];
      if (properties[section] === undefined) addUsual(kind, { $defs, properties });
      const rows = byField(Object.entries(table));
      const { for_each, enabled, lifecycle, ...others } = $defs[kind].properties;
      $defs[kind].properties = { for_each, enabled, ...mapped(rows, fieldWritten), ...others, lifecycle };
      const shared = rows.filter(([, { absent }]) => absent !== "key");
      $defs[`${kind}_defaults`].properties = { ...mapped(shared, fieldWritten), lifecycle };
      $defs[`${kind}_lifecycle`].properties.ignore_changes.items.anyOf[0].enum = ignorable[kind];
    }
  }

  function fillRecords({ $defs }) {
    for (const [kind, table] of Object.entries(fieldsOf)) {
      const record = $defs.record.oneOf.find(({ properties }) => properties.kind.const === kind);
      const rows = Object.entries(table).filter(([, { recorded }]) => recorded !== "never");
      const { kind: _, address, id, ...others } = record.properties;
      for (const [key] of rows) delete others[key];
      record.properties = { kind: record.properties.kind, address, id, ...mapped(rows, kept), ...others };
      const always = rows.filter(([, { recorded }]) => recorded === "always").map(([key]) => key);
      const first = ["kind", "address", ...always];
      record.required = [...first, ...record.required.filter((key) => !first.includes(key) && !(key in table))];
    }
  }

  /** A kind without fields of its own beside the table's. */
  const plainLifecycle = {
    description: "How the tool treats it.",
    type: "object",
    additionalProperties: false,
    properties: {
      preventDestroy: { description: "It is never deleted.", type: "boolean" },
      ignoreChanges: {
        description: "Fields that are left as they are.",
        type: "array",
        items: { type: "string" },
      },
    },
    required: ["preventDestroy", "ignoreChanges"],
  };

  /** The desired resources of a plan: read, with their defaults filled in. */
  function fillWishes({ $defs }) {
    const named = (kind) => `desired_${kind}`;
    $defs.desired.properties.resources.items = { oneOf: Object.keys(fieldsOf).map((kind) => ref(named(kind))) };
    for (const [kind, table] of Object.entries(fieldsOf)) {
      const { lifecycle = plainLifecycle, ...others } = $defs[named(kind)]?.properties ?? {};
      const rows = Object.entries(table);
      for (const key of ["kind", "address", "source", "inherited", ...Object.keys(table)]) delete others[key];
      const wished = (row) => (row.type === "remark" ? { description: row.about, ...ref("text") } : kept(row));
      const always = rows.filter(([, { absent }]) => absent !== "unset").map(([key]) => key);
      $defs[named(kind)] = {
        description: `A ${kindRows[kind].fullNoun} as it is wanted.`,
        type: "object",
        additionalProperties: false,
        properties: {
          kind: { const: kind, description: "The kind." },
          address: ref("address"),
          ...mapped(rows, wished),
          lifecycle,
          ...others,
          source: ref("source"),
          inherited: {
            description: "The fields that the block leaves to the defaults, each with its place there.",
            type: "object",
            additionalProperties: ref("inherited_from"),
          },
        },
        required: ["kind", "address", ...always, "lifecycle", "source"],
      };
    }
  }

  function fillCreate({ $defs }) {
    const create = $defs.action.oneOf.find(({ properties }) => properties.operation.const === "vm.create");
    const rows = Object.entries(fieldsOf.vm).filter(([, { sentAs }]) => sentAs !== undefined);
    create.properties.vm.properties = mapped(rows, kept);
    create.properties.vm.required = rows.filter(([, { absent }]) => absent !== "unset").map(([key]) => key);
  }

  return { fillDesired, fillRecords, fillWishes, fillCreate, ref };
}
