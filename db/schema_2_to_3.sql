-- SPDX-License-Identifier: MIT
-- Schema 3: rounds of neighbours' winners, the table of their losses, and problems of unknown length.

CREATE TABLE problem_3 (
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
INSERT INTO problem_3
SELECT id, batch, nhead, seq_len, q_len, kv_dtype, page_size, shared_prefix, share_group, imbalance, pool
FROM problem;
DROP TABLE problem;
ALTER TABLE problem_3 RENAME TO problem;

CREATE TABLE round_3 (
  id        INTEGER PRIMARY KEY,
  tuning_id INTEGER NOT NULL REFERENCES tuning (id),
  phase     TEXT NOT NULL CHECK (phase = 'search' OR phase IN ('semifinal', 'final', 'cross')),
  rung      INTEGER NOT NULL,
  round     INTEGER NOT NULL,
  attempt   INTEGER NOT NULL,
  UNIQUE (tuning_id, phase, attempt, rung, round)
) STRICT;
INSERT INTO round_3 SELECT id, tuning_id, phase, rung, round, attempt FROM round;
DROP TABLE round;
ALTER TABLE round_3 RENAME TO round;

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
