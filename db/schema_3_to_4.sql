-- SPDX-License-Identifier: MIT
-- Schema 4: a candidate has a number of rows of a row group; all before had 16.

CREATE TABLE candidate_4 (
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
INSERT INTO candidate_4
SELECT id, variant, splits, tile_n, stages, wait, "order", stage1_warps, stage2_tiles, stage2_warps,
       schedule, 16
FROM candidate;
DROP TABLE candidate;
ALTER TABLE candidate_4 RENAME TO candidate;
