import { verify, type VerifyRequest } from './verify.ts';

/** The verifier as a process of its own: the request is its argument, the verification one line of its output. */
export async function main(argv: readonly string[]): Promise<number> {
  const request = JSON.parse(argv[0] ?? '') as VerifyRequest;
  const verification = await verify(request);
  process.stdout.write(`${JSON.stringify(verification)}\n`);
  const { lost, exportFsckClean, treeIdentical, controlShows } = verification;
  return controlShows && lost === 0 && exportFsckClean && (treeIdentical || request.commit === undefined) ? 0 : 1;
}
