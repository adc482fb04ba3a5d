import { expect, it } from "vitest";
import { unlicensed } from "./supply-chain.ts";

it("a production dependency needs a license from the list", () => {
  const packages = {
    "": { license: "none of ours" },
    "packages/runtime": { license: "Apache-2.0" },
    "node_modules/fine": { license: "MIT" },
    "node_modules/viral": { license: "GPL-3.0" },
    "node_modules/silent": {},
    "node_modules/tool": { license: "GPL-3.0", dev: true },
    "node_modules/@memhog/runtime": { link: true },
  };
  expect(unlicensed({ packages })).toEqual(["viral: GPL-3.0", "silent: none"]);
});
