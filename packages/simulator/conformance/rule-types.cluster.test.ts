// Type checks of CEL rules when a definition is created.
import { expect, it } from "vitest";
import { definition } from "./definitions.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { refusal, world } from "./world.ts";

const here = world();

it("a definition is rejected if a CEL rule refers to a field that is not in the schema", async () => {
  const rules = [{ rule: "self.nothing == 1" }];
  const broken = definition("broken.memhog.test", {
    spec: { type: "object", properties: {}, "x-kubernetes-validations": rules },
  });
  const refused = await refusal(here.client.create(CustomResourceDefinition, broken.crd, { dryRun: true }));
  expect(refused.causes[0]?.message).toContain("undefined field 'nothing'");
});
