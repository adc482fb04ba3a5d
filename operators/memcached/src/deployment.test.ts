import { describe, expect, it } from "vitest";
import { aMemcached, itsDeployment } from "./builders.fixture.ts";
import { deploymentFor, eventsFor, sizeDiffers } from "./deployment.ts";

describe("the Deployment of a Memcached", () => {
  it("has a selector without the version, so that the version can change", () => {
    const selector = ({ version }: { version: string }) => deploymentFor(aMemcached({ version }), "memcached").spec.selector;
    expect(selector({ version: "1.6" })).toEqual(selector({ version: "1.7" }));
    expect(JSON.stringify(selector({ version: "1.6" }))).not.toContain("1.6");
  });

  it("uses the configured repository and port", () => {
    const [server] = deploymentFor(aMemcached({ containerPort: 12000 }), "example.com/cache").spec.template.spec.containers;
    expect(server).toMatchObject({ image: "example.com/cache:1.6.9", ports: [{ containerPort: 12000 }] });
    expect(server?.command?.slice(-2)).toEqual(["-p", "12000"]);
  });
});

describe("the events of a step", () => {
  const wanted = deploymentFor(aMemcached(), "memcached");
  const asked = { ...aMemcached(), metadata: { ...aMemcached().metadata, generation: 2 } };
  const cases = [
    { name: "the first", memcached: asked, actual: undefined, tells: ["Created"] },
    { name: "none", memcached: aMemcached(), actual: itsDeployment(), tells: [] },
    { name: "another size was asked for", memcached: asked, actual: itsDeployment(aMemcached({ size: 5 })), tells: ["Scaled"] },
    {
      name: "another version was asked for",
      memcached: asked,
      actual: itsDeployment(aMemcached({ version: "1" })),
      tells: ["RollingOut"],
    },
    {
      name: "nobody asked, somebody changed it",
      memcached: aMemcached(),
      actual: itsDeployment(aMemcached({ size: 5 })),
      tells: ["Reverted"],
    },
  ];
  it.each(cases)("$name", ({ memcached, actual, tells }) =>
    expect(eventsFor(memcached, wanted, actual).map(({ reason }) => reason)).toEqual(tells),
  );

  it("a size is undesired only if a Deployment exists", () =>
    expect(
      [undefined, itsDeployment(), itsDeployment(aMemcached({ size: 5 }))].map((actual) => sizeDiffers(wanted, actual)),
    ).toEqual([false, false, true]));
});
