import type { Engine, Session } from './engine.ts';
import { sqliteEngine } from './engines/sqlite.ts';
import { Ledger } from './ledger.ts';
import { countsOf } from './outcome.ts';
import { runFile } from './run-file.ts';

const queries = 12;
const liesEvery = 4;
const refusesEvery = 6;
const standsStillMs = 40;

const queryOf = (number: number): string => `query I nosort\nSELECT a + ${number} FROM t\n----\n${number + 1}\n\n`;

const text = [
  'statement ok\nCREATE TABLE t(a)\n\n',
  'statement ok\nINSERT INTO t VALUES (1)\n\n',
  ...Array.from({ length: queries }, (_, at) => queryOf(at)),
].join('');

/** Another value for some queries, no answer to others, and once it stands still. */
function lying(session: Session, done: { lies: number; refusals: number }): Session {
  let asked = 0;
  return {
    statement: (sql) => session.statement(sql),
    close: () => session.close(),
    async query(sql, types) {
      asked++;
      if (asked === 1) await new Promise((resolve) => setTimeout(resolve, standsStillMs));
      if (asked % refusesEvery === 0) {
        done.refusals++;
        return { error: 'it does not want to' };
      }
      const rows = await session.query(sql, types);
      if ('error' in rows || asked % liesEvery !== 0) return rows;
      done.lies++;
      return { ...rows, values: rows.values.map((value) => `${value}0`) };
    },
  };
}

/**
 * The negative control: an engine that lies, refuses and stands still on purpose must come out as that, record by
 * record. Gives what it comes out as, and whether that is right.
 */
export async function controlOfScoring(): Promise<{ readonly shows: boolean; readonly says: string }> {
  const sqlite = sqliteEngine();
  const done = { lies: 0, refusals: 0 };
  const engine: Engine = { ...sqlite, open: async (onProcess) => lying(await sqlite.open(onProcess), done) };
  const ledger = Ledger.forFile(text.length);
  await runFile(text, engine, ledger, () => undefined);
  const { attempted, right, wrong, errors } = countsOf(ledger.outcomes);
  const { lies, refusals } = done;
  const isCounted = attempted === queries + 2 && right === attempted - lies - refusals;
  // A timer may end a little early.
  const shows = isCounted && wrong === lies && errors === refusals && ledger.spent('engine') >= standsStillMs / 2;
  const counted = `${wrong} wrong, ${errors} errors and ${Math.round(ledger.spent('engine'))} ms of the engine’s time`;
  return { shows, says: `control: an engine that lies in ${lies} of ${queries} answers, refuses ${refusals} and stands still for ${standsStillMs} ms ${shows ? 'shows as that' : `SHOWS AS ${counted}: trust nothing here`}` }; // prettier-ignore
}
