// What is known of the types of a rule before it runs.
import { expect, it } from "vitest";
import { definition } from "./definitions.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { refusal, world } from "./world.ts";

const here = world();

it("a rule that asks for a field the schema has not makes the definition invalid", async () => {
  const rules = [{ rule: "self.nothing == 1" }];
  const broken = definition("broken.memhog.test", {
    spec: { type: "object", properties: {}, "x-kubernetes-validations": rules },
  });
  const refused = await refusal(here.client.create(CustomResourceDefinition, broken.crd, { dryRun: true }));
  expect(refused.causes[0]?.message).toContain("undefined field 'nothing'");
});
