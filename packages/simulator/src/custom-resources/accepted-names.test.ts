import { describe, expect, it } from "vitest";
import type { ApiObject, JsonObject } from "../json.ts";
import { nameDefinition } from "./accepted-names.ts";

const now = "2026-01-01T00:00:00Z";
const definition = (names: JsonObject, status: JsonObject = {}) =>
  ({ apiVersion: "v1", kind: "X", metadata: { name: "x" }, spec: { names }, status }) as ApiObject;
const mine = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList", shortNames: ["g"] };
const other = (names: JsonObject) => definition(names, { acceptedNames: names });

describe("the names of a definition", () => {
  it("are accepted if no other definition has them, and the definition is Established", () => {
    expect(nameDefinition(definition(mine), [], now)).toEqual({
      acceptedNames: mine,
      conditions: [
        { type: "NamesAccepted", status: "True", lastTransitionTime: now, reason: "NoConflicts", message: "no conflicts found" },
        {
          type: "Established",
          status: "True",
          lastTransitionTime: now,
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        },
      ],
    });
  });

  it.each([
    { taken: { plural: "gadgets" }, reason: "PluralConflict", message: '"gadgets" is already in use' },
    { taken: { shortNames: ["gadget"] }, reason: "SingularConflict", message: '"gadget" is already in use' },
    { taken: { shortNames: ["g"] }, reason: "ShortNamesConflict", message: '"g" is already in use' },
    { taken: { kind: "Gadget" }, reason: "KindConflict", message: '"Gadget" is already in use' },
    { taken: { listKind: "GadgetList" }, reason: "ListKindConflict", message: '"GadgetList" is already in use' },
  ])("are not accepted if another definition has them: $reason", ({ taken, reason, message }) => {
    const { conditions } = nameDefinition(definition(mine), [other(taken)], now);
    expect(conditions).toMatchObject([
      { type: "NamesAccepted", status: "False", reason, message },
      { type: "Established", status: "False", reason: "NotAccepted" },
    ]);
  });

  it("stay accepted when a new name conflicts", () => {
    const had = nameDefinition(definition(mine), [], now);
    const asking = definition({ ...mine, shortNames: ["w"] }, { acceptedNames: had.acceptedNames, conditions: had.conditions });
    const { acceptedNames, conditions } = nameDefinition(asking, [other({ shortNames: ["w"] })], "2027-01-01T00:00:00Z");
    expect(acceptedNames.shortNames).toEqual(["g"]);
    expect(conditions).toMatchObject([
      { status: "False", lastTransitionTime: "2027-01-01T00:00:00Z" },
      { status: "True", lastTransitionTime: now },
    ]);
  });
});
