-- SPDX-License-Identifier: MIT
-- Schema 4 of the tuning database. FORMAT.md explains units, invariants and upgrade rules.
-- application_id and user_version are set by schema.cpp in the transaction that runs this file.
-- Enumerations are stored by name; a name that was ever written is never given another meaning.
-- No column may be NULL: "unknown" is 0 or the empty text.
-- A CHECK asks for the usual value first: IN with more than two values builds a temporary b-tree for
-- each row that is written, which takes longer than the row.

-- One row per fact about the file: database_id (random, at creation), created_utc.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Hard fields (they decide whether a row may be used) are folded into hard_key: arch, compute units,
-- XCDs, partition. The others are soft: a difference keeps a row as "verify again".
CREATE TABLE device (
  id                     INTEGER PRIMARY KEY,
  name                   TEXT NOT NULL,     -- for people: "MI355X"
  arch                   TEXT NOT NULL,     -- hard: "gfx950", "sm_90", "x86-64"
  "partition"            TEXT NOT NULL,     -- hard: "SPX", empty where there is none
  pci_id                 TEXT NOT NULL,
  compute_units          INTEGER NOT NULL,  -- hard: CUs, SMs or CPU threads
  xcds                   INTEGER NOT NULL,  -- hard
  group_rows             INTEGER NOT NULL,  -- of the smallest row groups
  memory_bytes           INTEGER NOT NULL,
  local_memory_bytes     INTEGER NOT NULL,  -- per workgroup
  last_level_cache_bytes INTEGER NOT NULL,
  relative_times         INTEGER NOT NULL CHECK (relative_times IN (0, 1)),
  hard_key               TEXT NOT NULL,     -- device_key() of the row: "gfx950/256cu/8xcd"
  UNIQUE (name, arch, "partition", pci_id, compute_units, xcds, group_rows, memory_bytes,
          local_memory_bytes, last_level_cache_bytes, relative_times, hard_key)
) STRICT;

-- The software that a tuning ran on. All fields are soft.
CREATE TABLE environment (
  id           INTEGER PRIMARY KEY,
  driver       TEXT NOT NULL,
  runtime      TEXT NOT NULL,
  compiler     TEXT NOT NULL,
  code_hash    TEXT NOT NULL,  -- of the kernel sources
  tool_version TEXT NOT NULL,
  UNIQUE (driver, runtime, compiler, code_hash, tool_version)
) STRICT;

-- One invocation of the tuner.
CREATE TABLE run (
  id                INTEGER PRIMARY KEY,
  started_utc       TEXT NOT NULL,     -- ISO 8601
  host              TEXT NOT NULL,
  command_line      TEXT NOT NULL,
  seed              INTEGER NOT NULL,  -- 64 bits, read as signed
  free_memory_bytes INTEGER NOT NULL
) STRICT;

-- A shape. seq_len is the mean number of rows per request, rounded up, or 0 for a plan that serves
-- unknown lengths; batch is the padded batch.
CREATE TABLE problem (
  id            INTEGER PRIMARY KEY,
  batch         INTEGER NOT NULL CHECK (batch BETWEEN 1 AND 65535),
  nhead         INTEGER NOT NULL CHECK (nhead BETWEEN 1 AND 128),
  seq_len       INTEGER NOT NULL CHECK (seq_len BETWEEN 0 AND 16777215),
  q_len         INTEGER NOT NULL CHECK (q_len BETWEEN 1 AND 8),
  kv_dtype      TEXT NOT NULL CHECK (kv_dtype IN ('bf16', 'fp8')),
  page_size     INTEGER NOT NULL CHECK (page_size = 1 OR page_size IN (16, 64)),
  shared_prefix INTEGER NOT NULL CHECK (shared_prefix BETWEEN 0 AND seq_len),
  share_group   INTEGER NOT NULL CHECK (share_group BETWEEN 1 AND 65535),
  imbalance     INTEGER NOT NULL CHECK (imbalance = 1 OR imbalance IN (2, 4, 8)),
  pool          TEXT NOT NULL CHECK (pool IN ('small', 'large')),
  UNIQUE (batch, nhead, seq_len, q_len, kv_dtype, page_size, shared_prefix, share_group, imbalance,
          pool)
) STRICT;

-- A configuration of a kernel variant, one column per knob. A knob that the device lacks is 0.
CREATE TABLE candidate (
  id           INTEGER PRIMARY KEY,
  variant      TEXT NOT NULL,
  splits       INTEGER NOT NULL,
  tile_n       INTEGER NOT NULL,
  stages       INTEGER NOT NULL,
  wait         TEXT NOT NULL CHECK (wait IN ('drain', 'partial')),
  "order"      TEXT NOT NULL CHECK ("order" IN ('batch_major', 'split_major')),
  stage1_warps INTEGER NOT NULL,
  stage2_tiles INTEGER NOT NULL,
  stage2_warps INTEGER NOT NULL,
  schedule     TEXT NOT NULL CHECK (schedule IN ('uniform', 'persistent')),
  group_rows   INTEGER NOT NULL,
  UNIQUE (variant, splits, tile_n, stages, wait, "order", stage1_warps, stage2_tiles, stage2_warps,
          schedule, group_rows)
) STRICT;

-- One shape tuned on one device: the unit of resuming. run_id is the run that began it.
CREATE TABLE tuning (
  id             INTEGER PRIMARY KEY,
  run_id         INTEGER NOT NULL REFERENCES run (id),
  device_id      INTEGER NOT NULL REFERENCES device (id),
  environment_id INTEGER NOT NULL REFERENCES environment (id),
  problem_id     INTEGER NOT NULL REFERENCES problem (id),
  protocol       TEXT NOT NULL,     -- canonical text of every option that changes what is measured
  seed           INTEGER NOT NULL,  -- 64 bits, read as signed
  finished       INTEGER NOT NULL DEFAULT 0 CHECK (finished IN (0, 1)),
  UNIQUE (device_id, environment_id, problem_id, protocol, seed)
) STRICT;

-- Every live candidate once, written in one transaction: a round is there whole or not at all.
-- Ids grow in the order of measuring.
CREATE TABLE round (
  id        INTEGER PRIMARY KEY,
  tuning_id INTEGER NOT NULL REFERENCES tuning (id),
  phase     TEXT NOT NULL CHECK (phase = 'search' OR phase IN ('semifinal', 'final', 'cross')),
  rung      INTEGER NOT NULL,
  round     INTEGER NOT NULL,
  attempt   INTEGER NOT NULL,  -- a final or crossing that was cut starts again as the next attempt
  UNIQUE (tuning_id, phase, attempt, rung, round)
) STRICT;

-- One measured time. Clustered by round, so that it needs no index of its own (about 30 bytes a row).
CREATE TABLE sample (
  round_id     INTEGER NOT NULL REFERENCES round (id),
  leg          INTEGER NOT NULL,  -- 0.. within the round, as saved
  candidate_id INTEGER NOT NULL REFERENCES candidate (id),
  position     INTEGER NOT NULL,  -- place in the round's rotated order of measuring
  role         TEXT NOT NULL
    CHECK (role = 'candidate' OR role = 'default' OR role IN ('drained', 'placebo')),
  time_us      REAL NOT NULL CHECK (time_us >= 0),  -- 0 where outcome is not ok
  outcome      TEXT NOT NULL
    CHECK (outcome = 'ok' OR outcome IN ('slow', 'wrong', 'nonfinite', 'fault', 'hang',
      'out_of_memory', 'launch_failed', 'over_limits', 'not_capturable', 'not_recorded',
      'quarantined')),
  PRIMARY KEY (round_id, leg)
) STRICT, WITHOUT ROWID;

-- What became of a candidate at admission, and its crashes so far. The newest report replaces the last.
CREATE TABLE outcome (
  tuning_id    INTEGER NOT NULL REFERENCES tuning (id),
  candidate_id INTEGER NOT NULL REFERENCES candidate (id),
  kind         TEXT NOT NULL
    CHECK (kind = 'ok' OR kind IN ('slow', 'wrong', 'nonfinite', 'fault', 'hang', 'out_of_memory',
      'launch_failed', 'over_limits', 'not_capturable', 'not_recorded', 'quarantined')),
  text         TEXT NOT NULL,     -- one line for a person, empty for ok
  crashes      INTEGER NOT NULL CHECK (crashes >= 0),
  PRIMARY KEY (tuning_id, candidate_id)
) STRICT, WITHOUT ROWID;

-- The answer for a shape and the evidence for it. Of the rows of one (hard_key, problem) the one with
-- the highest id is current; older ones stay as evidence. Gains are ratios - 1: 0.03 is 3 % faster.
CREATE TABLE winner (
  id               INTEGER PRIMARY KEY,
  tuning_id        INTEGER NOT NULL REFERENCES tuning (id),
  config_id        INTEGER NOT NULL REFERENCES candidate (id),  -- what the lookup answers
  default_id       INTEGER NOT NULL REFERENCES candidate (id),  -- the default policy at tuning time
  finalist_id      INTEGER NOT NULL REFERENCES candidate (id),  -- the best candidate, also if it lost
  verdict          TEXT NOT NULL
    CHECK (verdict = 'faster' OR verdict IN ('default_best', 'undecided', 'slower', 'failed')),
  reference        TEXT NOT NULL CHECK (reference IN ('default', 'drained')),
  gain             REAL NOT NULL,  -- median over rounds of reference / winner - 1
  gain_low         REAL NOT NULL,  -- quartiles of the same
  gain_high        REAL NOT NULL,
  finalist_gain    REAL NOT NULL,
  drained_gain     REAL NOT NULL,  -- against the drained baseline; 0 unmeasured
  rounds           INTEGER NOT NULL,
  wins             INTEGER NOT NULL,
  losses           INTEGER NOT NULL,
  p_value          REAL NOT NULL CHECK (p_value BETWEEN 0 AND 1),
  placebo_noise    REAL NOT NULL,  -- median |ratio - 1| of the placebo
  default_us       REAL NOT NULL,  -- median; 0 not measured
  expected_us      REAL NOT NULL,  -- median; 0 not measured
  workspace_bytes  INTEGER NOT NULL,
  capture_checked  INTEGER NOT NULL CHECK (capture_checked IN (0, 1)),
  status           TEXT NOT NULL
    CHECK (status = 'active' OR status IN ('demoted', 'verify_again')),
  configs_measured INTEGER NOT NULL,
  configs_pruned   INTEGER NOT NULL,
  configs_failed   INTEGER NOT NULL
) STRICT;
CREATE INDEX winner_by_tuning ON winner (tuning_id);

-- Winners of grid neighbours, measured at a tuned shape against its default. One that is not here was
-- not measured and counts as an infinite loss. The newest measurement replaces the last.
CREATE TABLE loss (
  tuning_id     INTEGER NOT NULL REFERENCES tuning (id),
  candidate_id  INTEGER NOT NULL REFERENCES candidate (id),
  loss          REAL NOT NULL,     -- median over rounds of time / default's time - 1
  loss_low      REAL NOT NULL,     -- quartiles of the same
  loss_high     REAL NOT NULL,
  rounds        INTEGER NOT NULL,  -- 0: could not be measured; also an infinite loss
  wins          INTEGER NOT NULL,
  losses        INTEGER NOT NULL,
  placebo_noise REAL NOT NULL,     -- median |ratio - 1| of the placebo
  PRIMARY KEY (tuning_id, candidate_id)
) STRICT, WITHOUT ROWID;
