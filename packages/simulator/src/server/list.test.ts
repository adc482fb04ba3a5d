import { expect, it } from "vitest";
import { decodeContinue } from "./list.ts";
import { home, simulated } from "./testing.ts";

const maps = `${home}/configmaps`;

it("a list whose continue token was compacted gets 410 with a token for the current version", async () => {
  const { ask, core } = await simulated();
  for (const name of ["a", "b"]) await ask("POST", maps, { metadata: { name } });
  const { body: first } = await ask("GET", `${maps}?limit=1`);
  await ask("POST", maps, { metadata: { name: "c" } });
  core.storage.compact(core.storage.version);
  const refused = await ask("GET", `${maps}?limit=1&continue=${first.metadata.continue}`);
  expect(refused).toMatchObject({ status: 410, body: { reason: "Expired" } });
  const offered = refused.body.metadata.continue;
  expect(decodeContinue(offered).after).toBe(decodeContinue(first.metadata.continue).after);
  const { body: rest } = await ask("GET", `${maps}?continue=${offered}`);
  expect(rest.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(["b", "c"]);
  expect(rest.metadata.resourceVersion).toBe(String(core.storage.version));
});
