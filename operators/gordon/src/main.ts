// The program.    npm run gordon -- --kubeconfig ~/.kube/config --install-crds
import { main, operator, operatorFlags, writeManifests } from "@memhog/runtime";
import { Gordon } from "./api.ts";
import { gordons } from "./gordons.ts";
import { manifests, name, usualImage } from "./manifests.ts";

const own = {
  image: { type: "text", default: usualImage, describe: "what a gordon runs" },
  "install-crds": { type: "switch", describe: "put the definition of Gordon into the cluster first" },
  "write-manifests": {
    type: "text",
    placeholder: "folder",
    describe: "write CRD, RBAC, Deployment and samples there, and leave",
  },
} as const;

await main(name, async (argv, env) => {
  const flags = operatorFlags(argv, { name, about: "keeps gordons running", env, own });
  const { image, "install-crds": install, "write-manifests": folder } = flags.own;
  if (flags.help !== undefined) return console.log(flags.help);
  if (folder !== undefined) return console.log((await writeManifests(folder, manifests())).join("\n") || "nothing to change");
  await operator({ ...flags.options, name, controllers: [gordons({ image })], installCrds: install ? [Gordon] : [] }).run();
});
