import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { CadreError } from '../core/errors.ts'
import { FACTS } from './facts.ts'
import { isBusy, journalFault } from './fault.ts'

/** What `PRAGMA user_version` of a journal says. Counts up with every change of the tables below. */
export const SCHEMA_VERSION = 2
/** What `PRAGMA application_id` of a journal says ("Cdre"): a database without it is another program's. */
const APPLICATION_ID = 0x43647265

/**
 * How long SQLite may block this thread for a lock. Short, because the thread serves every agent: whoever writes waits longer without
 * blocking, by trying again.
 */
const LOCK_WAIT_MS = 10
/** How long opening may block: nothing else runs yet. */
const OPEN_WAIT_MS = 10_000
const OPEN_RETRY_MS = 10
/** Pages of the write-ahead log before they are moved into the file: 16 MB, so that pages written again and again are moved once. */
const CHECKPOINT_PAGES = 4_000
/** A log that grew beyond this (bytes) while a reader held it is cut back. */
const LOG_BYTES = 64 * 1024 * 1024

/** The events that begin or end a session or an agent. Written as ORs: SQLite proves a partial index usable only term by term. */
const LIFE_TYPES = ['session.started', 'session.ended', 'delegation.queued', 'delegation.started', 'delegation.ended']
export const LIFE = LIFE_TYPES.map((type) => `type = '${type}'`).join(' OR ')
const NEVER_CHANGED = `CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only: an event is never changed'); END;`

/**
 * Version 1. Every index grows at its end, as the table does (all but `event_agent` and `event_key`, which hold a few rows per agent): a group of
 * events then writes few pages, whatever the number of agents. An index by agent over all events would cost two thirds of the speed. The
 * generated columns are what lists sum up: stored, because an index does not cover a query of a virtual one, and of any type, so that no
 * odd figure can fail a group.
 */
const FIRST = `
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    session TEXT NOT NULL,
    root TEXT NOT NULL,
    agent TEXT NOT NULL,
    parent TEXT,
    depth INTEGER NOT NULL,
    type TEXT NOT NULL CHECK (type <> 'delta'),
    key TEXT,
    data TEXT NOT NULL,
    input ANY AS (CASE type WHEN 'turn.ended' THEN data ->> '$.reply.usage.input' END) STORED,
    output ANY AS (CASE type WHEN 'turn.ended' THEN data ->> '$.reply.usage.output' END) STORED,
    cacheRead ANY AS (CASE type WHEN 'turn.ended' THEN data ->> '$.reply.usage.cacheRead' END) STORED,
    cacheWrite ANY AS (CASE type WHEN 'turn.ended' THEN data ->> '$.reply.usage.cacheWrite' END) STORED,
    calls ANY AS (CASE type WHEN 'turn.ended' THEN json_array_length(data, '$.reply.calls') END) STORED,
    costUsd ANY AS (CASE type WHEN 'delegation.ended' THEN data ->> '$.result.costUsd' END) STORED
  ) STRICT;
  CREATE INDEX event_session ON event (session, seq, type, agent);
  CREATE INDEX event_life ON event (session, seq, type, agent, costUsd) WHERE ${LIFE};
  CREATE INDEX event_agent ON event (agent, session) WHERE ${LIFE};
  CREATE INDEX event_turn ON event (session, seq, agent, input, output, cacheRead, cacheWrite, calls) WHERE type = 'turn.ended';
  CREATE INDEX event_key ON event (key, seq) WHERE type = 'delegation.ended' AND key IS NOT NULL;

  CREATE TABLE pruning (session TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  ${NEVER_CHANGED}
  CREATE TRIGGER event_is_only_pruned BEFORE DELETE ON event WHEN NOT EXISTS (SELECT 1 FROM pruning WHERE session = OLD.session)
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only: an event is deleted only with its whole session'); END;

  CREATE TABLE lease (session TEXT PRIMARY KEY, pid INTEGER NOT NULL, beat INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`

/**
 * Version 2: agents have children they ask about before every turn (`facts`: what they ask, see facts.ts), results that are handed over (`hands`: a
 * JSON list of whose), and sessions that go from one owner to another. Whoever writes an event gives it both: SQLite would take a third of the
 * speed, where agents begin and end, to find them in its data. The two indexes cost least when all they ask of an event is a null.
 */
const SECOND = `
  ALTER TABLE event ADD COLUMN facts TEXT;
  ALTER TABLE event ADD COLUMN hands TEXT;
  DROP TRIGGER event_is_never_changed;
  UPDATE event SET facts = ${FACTS} WHERE parent IS NOT NULL AND (${LIFE}) AND type LIKE 'delegation.%';
  ${NEVER_CHANGED}
  CREATE INDEX event_child ON event (parent, seq, type, agent, time, facts) WHERE facts IS NOT NULL;
  CREATE INDEX event_hands ON event (agent, seq, hands) WHERE hands IS NOT NULL;
  ALTER TABLE lease ADD COLUMN owner TEXT NOT NULL DEFAULT '';
`

/** What makes a file of each version out of one of the version before; a new file goes through all. */
const STEPS = [FIRST, SECOND] as const

/**
 * Opens a journal file, making folder (0700), file (0600) and tables where they are missing. Throws a CadreError JOURNAL that names the
 * file and a remedy: not a database, written by a newer Cadre, on a disk without shared memory, not allowed.
 */
export function openDatabase(file: string, sync: 'normal' | 'full'): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // Before SQLite sees it: its log and shared memory take over the file's mode.
    closeSync(openSync(file, 'a', 0o600))
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  } catch (error) {
    throw journalFault(file, 'opened', error)
  }
  const deadline = Date.now() + OPEN_WAIT_MS
  for (;;) {
    try {
      return tryOpen(file, sync)
    } catch (error) {
      // Switching a new file to WAL is refused at once, without waiting, while another process does the same.
      if (!isBusy(error) || Date.now() > deadline) throw journalFault(file, 'opened', error)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_RETRY_MS)
    }
  }
}

function tryOpen(file: string, sync: 'normal' | 'full'): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: LOCK_WAIT_MS })
  try {
    refuseForeign(db, file)
    const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
    if (mode !== 'wal') {
      throw new CadreError('JOURNAL',
        `The journal ${file} is on a disk that cannot share it between processes. Set CADRE_JOURNAL to a folder on a local disk.`)
    }
    db.exec(`PRAGMA synchronous = ${sync === 'full' ? 'FULL; PRAGMA fullfsync = 1' : 'NORMAL'}`)
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA temp_store = MEMORY`)
    if (versionOf(db) < SCHEMA_VERSION) bringUp(db)
    refuseForeign(db, file)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** In one transaction that looks again: of several processes opening a new or an older file at once, one brings it up to date. */
function bringUp(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const step of STEPS.slice(versionOf(db))) db.exec(step)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${Math.max(versionOf(db), SCHEMA_VERSION)}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const pragma = (db: DatabaseSync, name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name])
const versionOf = (db: DatabaseSync): number => pragma(db, 'user_version')

/** Throws for a database that is neither new nor a journal this Cadre knows, before anything in it is changed. */
function refuseForeign(db: DatabaseSync, file: string): void {
  const version = versionOf(db)
  const isNew = version === 0 && db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  if (!isNew && pragma(db, 'application_id') !== APPLICATION_ID) {
    throw new CadreError('JOURNAL',
      `The journal ${file} is a database of another program. Set CADRE_JOURNAL to another folder, or move the file away.`)
  }
  if (version > SCHEMA_VERSION) {
    throw new CadreError('JOURNAL',
      `The journal ${file} was written by a newer Cadre (its version is ${version}, this one reads ${SCHEMA_VERSION}). ` +
      'Update Cadre, or set CADRE_JOURNAL to another folder.')
  }
}
