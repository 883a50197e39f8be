/** The fields of a security group: one row each. core/model/fields.ts says what a row says. */
import type { Rows } from "../../core/model/field-row";

export const groupFields = {
  name: {
    field: "name",
    type: "name",
    about: "The name in the service: one word of a-z, 0-9 and hyphen, 3 to 50 long; upper case is lower-cased.",
    absent: "key",
    effect: "in_place",
    verb: "rename",
    costs: "renamed in place",
    compare: "own",
    recorded: "known",
  },
  description: {
    field: "description",
    type: "remark",
    about: "Free text.",
    absent: "unset",
    effect: "in_place",
    verb: "update",
    costs: "updated in place",
    compare: "own",
    recorded: "known",
  },
  rulesMode: {
    field: "rules_mode",
    type: ["authoritative", "additive"],
    about: "authoritative: rules that are not declared are removed. additive: they are left alone.",
    absent: { value: "authoritative" },
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "never",
  },
  rules: {
    field: "rules",
    type: "rules",
    about: "The group's rules, in any order.",
    absent: "usual",
    effect: "in_place",
    verb: "update",
    costs: "rules are added in place; removing one needs group.rule.delete, or replaces the group without a gap",
    compare: "own",
    recorded: "always",
  },
} as const satisfies Rows;
