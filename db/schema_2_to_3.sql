-- SPDX-License-Identifier: MIT
-- Schema 3: rounds of neighbours' winners, and the table of their losses.

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
