import { verify, type VerifyRequest } from './verify.ts';

/** The verifier as a process of its own: the request is its argument, the verification one line of its output. */
export async function main(argv: readonly string[]): Promise<number> {
  const verification = await verify(JSON.parse(argv[0] ?? '') as VerifyRequest);
  process.stdout.write(`${JSON.stringify(verification)}\n`);
  return verification.lost === 0 && verification.exportFsckClean ? 0 : 1;
}
