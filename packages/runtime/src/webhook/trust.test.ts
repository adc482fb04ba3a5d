import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../objects/kinds/extension.ts";
import type { Kind } from "../objects/object.ts";
import { ObjectsInMemory } from "../operator/testing/objects-in-memory.ts";
import { allowed } from "./admission.ts";
import { conversionThrough, webhookConfigurations } from "./configuration.ts";
import { convert } from "./conversion.ts";
import { keepTrust, spreadTrust } from "./trust.ts";
import { mutate, validate } from "./webhooks.ts";

const Gordon: Kind = { group: "operator.prgcont.cz", version: "v1", kind: "Gordon", plural: "gordons", namespaced: true };
const webhooks = [validate(Gordon, () => allowed()), mutate(Gordon, () => undefined), convert(Gordon, {})];
const address = { url: "https://localhost:1" };
const [validating, mutating] = webhookConfigurations(webhooks, { name: "gordon", ...address });
const crd: CustomResourceDefinition = {
  metadata: { name: "gordons.operator.prgcont.cz" },
  spec: {
    ...{ group: Gordon.group, names: { kind: "Gordon", plural: "gordons" }, scope: "Namespaced", versions: [] },
    conversion: conversionThrough(address),
  },
};

async function world() {
  const environment = manualEnvironment();
  const objects = new ObjectsInMemory();
  const options = { client: objects.client, webhooks, name: "gordon" };
  const install = async () => {
    await objects.client.create(ValidatingWebhookConfiguration, validating as ValidatingWebhookConfiguration);
    await objects.client.create(MutatingWebhookConfiguration, mutating as MutatingWebhookConfiguration);
    await objects.client.create(CustomResourceDefinition, crd);
  };
  const bundles = () => [
    ...objects.all(ValidatingWebhookConfiguration).map((each) => each.webhooks?.[0]?.clientConfig.caBundle),
    ...objects.all(MutatingWebhookConfiguration).map((each) => each.webhooks?.[0]?.clientConfig.caBundle),
    ...objects.all(CustomResourceDefinition).map((each) => each.spec.conversion?.webhook?.clientConfig?.caBundle),
  ];
  return { environment, objects, options, install, bundles };
}

/** The objects as stored, without caBundle. */
const untrusted = (objects: ObjectsInMemory) => {
  const kinds = [ValidatingWebhookConfiguration, MutatingWebhookConfiguration, CustomResourceDefinition] as const;
  const all = kinds.flatMap((kind) => [...objects.all(kind as Kind)]) as { webhooks?: unknown; spec?: unknown }[];
  const content = all.map(({ webhooks, spec }) => ({ webhooks, spec }));
  return JSON.stringify(content, (key, value) => (key === "caBundle" ? undefined : value));
};

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("caBundle", () => {
  it("is set in configurations and conversions, and nothing else in them changes", async () => {
    const { objects, options, install, bundles } = await world();
    await install();
    const before = untrusted(objects);
    expect(await spreadTrust("PEM", options)).toEqual([
      { place: "ValidatingWebhookConfiguration gordon", found: "written" },
      { place: "MutatingWebhookConfiguration gordon", found: "written" },
      { place: "CustomResourceDefinition gordons.operator.prgcont.cz", found: "written" },
    ]);
    expect(bundles()).toEqual([base64("PEM"), base64("PEM"), base64("PEM")]);
    expect(untrusted(objects)).toBe(before);
  });

  it("is set in each webhook of a configuration that lacks it", async () => {
    const { objects, options } = await world();
    const [webhook] = validating?.webhooks ?? [];
    const trusted = { ...webhook, clientConfig: { ...address, caBundle: base64("PEM") } };
    const two = { ...validating, webhooks: [trusted, webhook] } as ValidatingWebhookConfiguration;
    await objects.client.create(ValidatingWebhookConfiguration, two);
    await spreadTrust("PEM", { ...options, webhooks: webhooks.slice(0, 1) });
    const [written] = objects.all(ValidatingWebhookConfiguration);
    expect(written?.webhooks?.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([base64("PEM"), base64("PEM")]);
  });

  it("A1: is not retried at once when the write is rejected", async () => {
    const { objects, options, install } = await world();
    await install();
    objects.before = ({ verb }) => {
      if (verb === "update") throw new Error("you may not");
    };
    await expect(spreadTrust("PEM", options)).rejects.toThrow("you may not");
  });

  it("E1: is not written again if it is current", async () => {
    const { objects, options, install } = await world();
    await install();
    await spreadTrust("PEM", options);
    const before = objects.calls.length;
    expect((await spreadTrust("PEM", options)).map(({ found }) => found)).toEqual(["there", "there", "there"]);
    expect(objects.calls.slice(before).map(({ verb }) => verb)).toEqual(["find", "find", "find"]);
  });

  it("A1: is written on the second attempt after a conflict", async () => {
    const { objects, options, install, bundles } = await world();
    await install();
    let interfered = false;
    objects.before = async ({ verb }) => {
      if (verb !== "update" || interfered) return;
      interfered = true;
      await objects.client.update(ValidatingWebhookConfiguration, {
        ...validating,
        metadata: { name: "gordon", labels: { a: "b" } },
      } as never);
    };
    await spreadTrust("PEM", { ...options, webhooks: webhooks.slice(0, 1) });
    expect(bundles()[0]).toBe(base64("PEM"));
    expect(objects.read(ValidatingWebhookConfiguration, { name: "gordon" })?.metadata.labels).toEqual({ a: "b" });
  });

  it("is set within seconds in configurations that are applied later, and restored when it is removed", async () => {
    const { environment, objects, options, install, bundles } = await world();
    const ending = new AbortController();
    const keeping = keepTrust({ ...options, environment, trust: () => "PEM" }, ending.signal);
    await environment.clock.advance(1_000);
    await install();
    await environment.clock.advance(5_000);
    expect(bundles()).toEqual([base64("PEM"), base64("PEM"), base64("PEM")]);
    await objects.client.update(ValidatingWebhookConfiguration, validating as ValidatingWebhookConfiguration);
    expect(bundles()[0]).toBeUndefined();
    await environment.clock.advance(33_000);
    expect(bundles()[0]).toBe(base64("PEM"));
    ending.abort();
    await keeping;
  });

  it("is set soon in a configuration that is created again, however long it took the first time", async () => {
    const { environment, objects, options, install, bundles } = await world();
    const ending = new AbortController();
    const problems: unknown[] = [];
    const onProblem = (error: unknown) => problems.push(error);
    const keeping = keepTrust({ ...options, environment, trust: () => "PEM", onProblem }, ending.signal);
    await environment.clock.advance(300_000);
    await install();
    await environment.clock.advance(33_000);
    objects.delete(MutatingWebhookConfiguration, { name: "gordon" });
    while (problems.length < 4) await environment.clock.advance(1_000);
    await objects.client.create(MutatingWebhookConfiguration, mutating as MutatingWebhookConfiguration);
    await environment.clock.advance(5_000);
    expect(bundles()).toEqual([base64("PEM"), base64("PEM"), base64("PEM")]);
    ending.abort();
    await keeping;
  });

  it("is reported missing for a CRD without a conversion webhook", async () => {
    const { objects, options } = await world();
    const { conversion: _none, ...unconverted } = crd.spec;
    await objects.client.create(CustomResourceDefinition, { ...crd, spec: unconverted });
    const placed = await spreadTrust("PEM", { ...options, webhooks: [convert(Gordon, {})] });
    expect(placed).toEqual([{ place: "CustomResourceDefinition gordons.operator.prgcont.cz", found: "missing" }]);
  });

  it("is reported missing once per object, and again if the object is deleted", async () => {
    const { environment, objects, options, install } = await world();
    const problems: unknown[] = [];
    const ending = new AbortController();
    const onProblem = (error: unknown) => problems.push(error);
    const keeping = keepTrust({ ...options, environment, trust: () => "PEM", onProblem }, ending.signal);
    await environment.clock.advance(60_000);
    expect(problems).toMatchObject([
      { code: "WEBHOOK_NOT_REGISTERED", message: expect.stringContaining("ValidatingWebhookConfiguration gordon") },
      { message: expect.stringContaining("MutatingWebhookConfiguration gordon") },
      { message: expect.stringContaining("CustomResourceDefinition gordons.operator.prgcont.cz") },
    ]);
    await install();
    await environment.clock.advance(60_000);
    expect(problems).toHaveLength(3);
    objects.delete(MutatingWebhookConfiguration, { name: "gordon" });
    await environment.clock.advance(60_000);
    expect(problems).toHaveLength(4);
    ending.abort();
    await keeping;
  });

  it("is retried after an error, which is reported", async () => {
    const { environment, objects, options, install, bundles } = await world();
    await install();
    const problems: unknown[] = [];
    objects.before = () => {
      throw new Error("connection refused");
    };
    const ending = new AbortController();
    const keeping = keepTrust(
      { ...options, environment, trust: () => "PEM", onProblem: (error) => problems.push(error) },
      ending.signal,
    );
    await environment.clock.advance(10_000);
    expect(problems.length).toBeGreaterThan(1);
    objects.before = () => {};
    await environment.clock.advance(33_000);
    expect(bundles()).toEqual([base64("PEM"), base64("PEM"), base64("PEM")]);
    ending.abort();
    await keeping;
  });
});
