// The program as a value: main.ts runs it, manifests.ts generates deploy/ from it.
import type { FlagTable, OperatorProgram } from "@memhog/runtime";
import packageJson from "../package.json" with { type: "json" };
import { Gordon } from "./api.ts";
import { gordons } from "./gordons.ts";

export const defaultImage = "prgcont/gordon:v1.0";

const flags = {
  image: { type: "string", default: defaultImage, describe: "image that a gordon runs" },
} as const satisfies FlagTable;

export const program: OperatorProgram<typeof flags> = {
  name: "gordon-operator",
  description: "Keeps a number of gordons running.",
  version: packageJson.version,
  resources: [Gordon],
  flags,
  configure: ({ image }) => ({ controllers: [gordons({ image })] }),
};
