// The command line's way in. Everything it needs of the world is handed on, so that cli/ can be tested without a process.
import { main } from "./cli/main.ts";

process.exitCode = await main(process.argv.slice(2), { out: process.stdout, err: process.stderr, env: process.env });
