/* SPDX-License-Identifier: MIT
 * The run-time lookup of mla-tune as a C ABI (C99): which configuration to launch for a decode
 * step.
 *
 * mla_policy_plan() may be called from any thread, in every decode step and under graph capture: it
 * does not allocate, lock, throw, or touch a file, and it is safe against a concurrent
 * mla_policy_reload(). Every struct begins with its size in bytes, set by the caller. Text is UTF-8
 * and zero-terminated.
 */
#ifndef MLA_POLICY_H_
#define MLA_POLICY_H_

#include <stddef.h>
#include <stdint.h>

#include "mla_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MLA_POLICY_API __attribute__((visibility("default")))
#else
#define MLA_POLICY_API
#endif

#define MLA_POLICY_VERSION_MAJOR 0
#define MLA_POLICY_VERSION_MINOR 1
#define MLA_POLICY_VERSION_PATCH 0

/* Where an answer comes from. Stable: never renumbered. */
typedef enum mla_source {
  MLA_SOURCE_EXACT = 0,
  MLA_SOURCE_BUCKETED = 1,
  MLA_SOURCE_INTERPOLATED = 2,
  MLA_SOURCE_ROBUST = 3,
  MLA_SOURCE_DEFAULT = 4,
  MLA_SOURCE_DISABLED = 5,
  MLA_SOURCE_COUNT = 6
} mla_source;

/* What answers. Stable: never renumbered. */
typedef enum mla_mode {
  MLA_MODE_LOOKUP = 0,
  MLA_MODE_OFF = 1,          /* the default policy */
  MLA_MODE_DETERMINISTIC = 2 /* splits that do not depend on the batch: a request's result is then
                                the same bits whatever requests share the launch */
} mla_mode;

/* An open policy: the tuned shapes of one device. */
typedef struct mla_policy mla_policy;

/* A decode step. The usual values: share_group 8, q_len 1, page_size 1, imbalance 1. */
typedef struct mla_shape {
  uint32_t struct_size;
  int32_t batch;         /* requests, zero-length rows of a padded batch included */
  int64_t seq_len;       /* mean rows per request, rounded up; 0: unknown */
  int64_t shared_prefix; /* leading rows shared within a group of share_group requests; 0: none */
  int32_t share_group;   /* 8 unless the serving engine groups otherwise */
  int32_t nhead;         /* 1..128 */
  int32_t q_len;         /* query positions per request, 1..8 */
  int32_t kv_dtype;      /* 0: bf16, 1: fp8 e4m3 */
  int32_t page_size;     /* 1, 16 or 64 */
  int32_t imbalance;     /* class of max / mean length: 1 (at most 1.25), 2, 4, 8 */
  int32_t large_pool;    /* 1: the KV pool is 2^32 bytes or more */
  int32_t reserved;      /* 0 */
} mla_shape;

/* Since the policy was opened. */
typedef struct mla_counts {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  /* Answers; those of MLA_SOURCE_DEFAULT are the misses. Plans of more than 128 threads at the same
   * instant get the default and are not counted. */
  uint64_t by_source[MLA_SOURCE_COUNT];
  uint64_t rejected; /* plans that returned an error; in no other count */
} mla_counts;

/* Version of the library in use: major * 10000 + minor * 100 + patch. Equal major numbers are
 * compatible (equal minor numbers while the major is 0). */
MLA_POLICY_API uint32_t mla_policy_version(void);

/* Opens a policy for one device. `paths` are database files, a later one's rows win over an earlier
 * one's. Null `paths` means the environment variable MLA_TUNE_DB, a list separated by colons,
 * and without it the installed share/mla-tune/tuned.db below the user's own tuning.db.
 * MLA_TUNE_MODE (lookup, off, deterministic) is the mode and MLA_TUNE_PIN a text for
 * mla_policy_pin(). The environment is read here and nowhere else.
 *
 * MLA_ERROR_DATABASE still yields a working handle: files that cannot be used (or no file at all)
 * are one warning each in the status text, and shapes that only they know get the default policy.
 * Every other error leaves *policy null. */
MLA_POLICY_API mla_status mla_policy_open(const char* const* paths,
                                          size_t path_count,
                                          const mla_device_desc* device,
                                          mla_policy** policy);

/* Answers one shape. On MLA_ERROR_USAGE the plan, where it can be written, holds a single split
 * that is legal for every shape of the device; with a null policy it holds nothing to launch
 * (splits 0). */
MLA_POLICY_API mla_status mla_policy_plan(mla_policy* policy,
                                          const mla_shape* shape,
                                          mla_plan* plan);

/* Workspace that suffices for every plan of this policy whose batch, nhead and q_len are at most
 * the shape's; the other fields are not looked at. Monotone in the three. Ask again after a reload,
 * a pin or a change of the mode. */
MLA_POLICY_API mla_status mla_policy_workspace_bound(mla_policy* policy,
                                                     const mla_shape* shape,
                                                     int64_t* bytes);

/* Reads the same files again and swaps the table. Where one cannot be used the old table stays and
 * the status text says why. Returns when no plan uses the old table any more. */
MLA_POLICY_API mla_status mla_policy_reload(mla_policy* policy);

/* For comparisons: what plans answer from now on; plans may be in progress. In a mode other than
 * lookup, and while something is pinned, the source of an answer is MLA_SOURCE_DISABLED. Files that
 * were not read so far, because the policy was opened in another mode, are read here. mode: an
 * mla_mode; another number is MLA_ERROR_USAGE. */
MLA_POLICY_API mla_status mla_policy_set_mode(mla_policy* policy, int32_t mode);

/* Holds knobs of every plan at the values of a text like "splits=32 wait=partial"; the default
 * policy fills the gaps, and answers alone where the result is not legal for a shape. Null or empty
 * ends it. MLA_MODE_OFF comes first. On MLA_ERROR_USAGE nothing changes and the status text says
 * why. */
MLA_POLICY_API mla_status mla_policy_pin(mla_policy* policy, const char* knobs);

/* Equal for policies that answer every shape alike: the same advice for the same kind of device,
 * whatever files it came from, the same mode and pin. Ranks of one job compare it before they
 * start. 0: no policy. */
MLA_POLICY_API uint64_t mla_policy_fingerprint(mla_policy* policy);

/* The time that one step of this shape took, so that misses are weighed by their share of it. As
 * cheap as a plan and under the same promises. */
MLA_POLICY_API mla_status mla_policy_report(mla_policy* policy,
                                            const mla_shape* shape,
                                            double time_us);

/* Copies the shapes that no database answered since the policy was opened, as `mla-tune db miss`
 * reads them, cut to `size` bytes with the terminating zero. Returns the bytes that the whole text
 * needs. Lengths within 9 % count as one shape; there is room for 1,024. */
MLA_POLICY_API size_t mla_policy_misses(mla_policy* policy, char* buffer, size_t size);

/* No other call on this policy may be in progress. Null is allowed. */
MLA_POLICY_API void mla_policy_close(mla_policy* policy);

/* Copies a first line for people ("100000 tuned shapes for gfx950/256cu/8xcd") and one line
 * "warning: ..." per warning, cut to `size` bytes with the terminating zero. Returns the bytes that
 * the whole text needs. */
MLA_POLICY_API size_t mla_policy_status_text(mla_policy* policy, char* buffer, size_t size);

/* Safe while plans are in progress; the counts are then of slightly different moments. */
MLA_POLICY_API mla_status mla_policy_counts(mla_policy* policy, mla_counts* counts);

/* Bytes of the lookup table in memory, and the tuned shapes in it. Either pointer may be null. */
MLA_POLICY_API mla_status mla_policy_table_size(mla_policy* policy,
                                                int64_t* shapes,
                                                int64_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* MLA_POLICY_H_ */
