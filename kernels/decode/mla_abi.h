/* SPDX-License-Identifier: MIT
 * What libmla_policy and libmla_decode share (C99): status codes, the description of a device, and
 * the plan that one library makes and the other launches. Every struct begins with its size in
 * bytes, set by the caller. Text is UTF-8 and zero-terminated.
 */
#ifndef MLA_ABI_H_
#define MLA_ABI_H_

#include <stdint.h>

/* Stable: never renumbered. */
typedef enum mla_status {
  MLA_OK = 0,
  MLA_ERROR_USAGE = 2,    /* null pointer, wrong struct size, field out of range */
  MLA_ERROR_DEVICE = 3,   /* the device is not there, cannot be used, or refused a launch */
  MLA_ERROR_DATABASE = 4, /* no database, or one that cannot be used */
  MLA_ERROR_INTERNAL = 70 /* out of memory, or a fault of ours */
} mla_status;

/* The device that a policy answers for; mla_decode_describe() fills it. */
typedef struct mla_device_desc {
  uint32_t struct_size;
  int32_t compute_units;      /* CUs, SMs or CPU threads */
  int32_t xcds;               /* chiplets a grid is dealt over; 0 means 1 */
  int32_t group_rows;         /* of the smallest row groups; 0 means 16 */
  int64_t local_memory_bytes; /* LDS / shared memory of a workgroup; 0: not a limit */
  const char* arch;           /* "gfx950", "sm_90", "x86-64" */
  const char* partition; /* compute partition mode ("CPX"); null or empty where there is none */
} mla_device_desc;

/* One launch configuration, and where it comes from. */
typedef struct mla_plan {
  uint32_t struct_size;
  int32_t splits;          /* KV splits per request at most */
  int32_t tile_n;          /* rows of a KV block */
  int32_t stages;          /* depth of the ring of copies */
  int32_t wait;            /* 0: drain, 1: partial */
  int32_t order;           /* 0: batch-major, 1: split-major */
  int32_t stage1_warps;    /* 0: not a knob of this device */
  int32_t stage2_tiles;    /* parts of the head dimension in stage 2 */
  int32_t stage2_warps;    /* 0: not a knob of this device */
  int32_t source;          /* mla_source */
  int32_t database;        /* which of the opened files answered, from 0; -1: none */
  float gain;              /* over the default at tuning time; 0: unknown */
  float expected_us;       /* 0: unknown */
  int32_t schedule;        /* 0: uniform, 1: persistent */
  const char* source_name; /* static: "exact", "default", ... */
  const char* reason;      /* static, for people */
  int64_t workspace_bytes; /* what this launch needs */
  int64_t winner_id;       /* row id in that database; 0: none */
  int32_t group_rows;      /* query rows that share one walk over the cached rows */
  int32_t reserved;        /* 0 */
} mla_plan;

#endif /* MLA_ABI_H_ */
