-- SPDX-License-Identifier: MIT
-- Views of the newest schema, for people with an SQL shell; the program reads tables only. A migration
-- drops them and runs this file again.

-- Current winners: the newest per (hard_key, problem).
CREATE VIEW v_best AS
SELECT d.name AS device, d.hard_key, p.batch, p.nhead, p.seq_len, p.q_len, p.kv_dtype, p.page_size,
       p.shared_prefix, p.imbalance, w.verdict, round(100 * w.gain, 2) AS gain_percent,
       round(w.expected_us, 2) AS expected_us, round(w.default_us, 2) AS default_us, w.status,
       c.splits, c.tile_n, c.stages, c.wait, c."order", c.stage1_warps, c.stage2_tiles,
       c.stage2_warps, c.schedule, c.group_rows, w.rounds, w.wins, w.losses, w.id AS winner_id,
       t.id AS tuning_id
FROM winner AS w
JOIN tuning AS t ON t.id = w.tuning_id
JOIN device AS d ON d.id = t.device_id
JOIN problem AS p ON p.id = t.problem_id
JOIN candidate AS c ON c.id = w.config_id
WHERE w.id IN (SELECT max(w2.id)
               FROM winner AS w2
               JOIN tuning AS t2 ON t2.id = w2.tuning_id
               JOIN device AS d2 ON d2.id = t2.device_id
               GROUP BY d2.hard_key, t2.problem_id)
ORDER BY d.hard_key, p.nhead, p.batch, p.seq_len;

-- Where the best candidate of a tuning lost, or the answer is slower than the drained baseline.
CREATE VIEW v_regressions AS
SELECT d.name AS device, p.batch, p.nhead, p.seq_len, w.verdict,
       round(100 * w.finalist_gain, 2) AS finalist_gain_percent,
       round(100 * w.drained_gain, 2) AS drained_gain_percent,
       f.splits, f.tile_n, f.stages, f.wait, f."order", f.stage1_warps, f.stage2_tiles,
       f.stage2_warps, f.schedule, f.group_rows, w.rounds, w.wins, w.losses, w.id AS winner_id,
       t.id AS tuning_id
FROM winner AS w
JOIN tuning AS t ON t.id = w.tuning_id
JOIN device AS d ON d.id = t.device_id
JOIN problem AS p ON p.id = t.problem_id
JOIN candidate AS f ON f.id = w.finalist_id
WHERE w.verdict = 'slower' OR w.finalist_gain < 0 OR w.drained_gain < 0
ORDER BY w.finalist_gain;

-- Candidates that could not be measured, and why.
CREATE VIEW v_failures AS
SELECT d.name AS device, p.batch, p.nhead, p.seq_len, o.kind, o.text, o.crashes,
       c.splits, c.tile_n, c.stages, c.wait, c."order", c.stage1_warps, c.stage2_tiles,
       c.stage2_warps, c.schedule, c.group_rows, t.id AS tuning_id
FROM outcome AS o
JOIN tuning AS t ON t.id = o.tuning_id
JOIN device AS d ON d.id = t.device_id
JOIN problem AS p ON p.id = t.problem_id
JOIN candidate AS c ON c.id = o.candidate_id
WHERE o.kind <> 'ok'
ORDER BY t.id, o.kind;

-- How winners of grid neighbours did at a tuned shape.
CREATE VIEW v_losses AS
SELECT d.name AS device, p.batch, p.nhead, p.seq_len, round(100 * l.loss, 2) AS loss_percent,
       l.rounds, l.wins, l.losses, round(100 * l.placebo_noise, 2) AS noise_percent,
       c.splits, c.tile_n, c.stages, c.wait, c."order", c.stage1_warps, c.stage2_tiles,
       c.stage2_warps, c.schedule, c.group_rows, t.id AS tuning_id
FROM loss AS l
JOIN tuning AS t ON t.id = l.tuning_id
JOIN device AS d ON d.id = t.device_id
JOIN problem AS p ON p.id = t.problem_id
JOIN candidate AS c ON c.id = l.candidate_id
ORDER BY l.rounds = 0 DESC, l.loss DESC;
