-- SPDX-License-Identifier: MIT
-- Schema 2: a candidate has a schedule; all before ran the uniform one.

CREATE TABLE candidate_2 (
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
  UNIQUE (variant, splits, tile_n, stages, wait, "order", stage1_warps, stage2_tiles, stage2_warps,
          schedule)
) STRICT;
INSERT INTO candidate_2
SELECT id, variant, splits, tile_n, stages, wait, "order", stage1_warps, stage2_tiles, stage2_warps,
       'uniform'
FROM candidate;
DROP TABLE candidate;
ALTER TABLE candidate_2 RENAME TO candidate;
