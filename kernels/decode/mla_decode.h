/* SPDX-License-Identifier: MIT
 * The decode kernels of mla-tune as a C ABI (C99): softmax(scale q K^T) V over paged latent rows,
 * launched as a plan of mla_policy.h says.
 *
 * mla_decode_launch() allocates nothing, waits for nothing and may be captured into a graph. Calls
 * on one handle must not overlap; handles are independent. Every struct begins with its size in
 * bytes, set by the caller.
 */
#ifndef MLA_DECODE_H_
#define MLA_DECODE_H_

#include <stddef.h>
#include <stdint.h>

#include "mla_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MLA_DECODE_API __attribute__((visibility("default")))
#else
#define MLA_DECODE_API
#endif

#define MLA_DECODE_VERSION_MAJOR 0
#define MLA_DECODE_VERSION_MINOR 1
#define MLA_DECODE_VERSION_PATCH 0

/* A device and its kernels. */
typedef struct mla_decode mla_decode;

/* Pointers are in the device's memory and strides count elements. A cached row holds 576 elements,
 * of which the first 512 are V. The contents of the index arrays are not looked at before the
 * launch. */
typedef struct mla_tensors {
  uint32_t struct_size;
  int32_t batch;       /* requests, 1..65535, zero-length rows of a padded batch included */
  int32_t nhead;       /* 1..128 */
  int32_t q_len;       /* query positions per request, 1..8; causal over the last of them */
  int32_t page_size;   /* 1, 16 or 64 */
  int32_t kv_dtype;    /* 0: bf16; 1: fp8 e4m3 as in OCP (largest number 448, NaN 0x7F) */
  float softmax_scale; /* multiplies q . k */
  float kv_scale;      /* multiplies every fp8 element; 1 for bf16 */
  int64_t max_seq_len; /* no request has more rows; 0: 2^24 - 1, which the kernels can count */

  const void* q;                /* [batch * q_len, nhead, 576] bf16, 576 contiguous */
  int64_t q_token_stride;       /* from one query position to the next */
  int64_t q_head_stride;        /* from one head to the next */
  const void* kv;               /* [pages, page_size, 576], on 16 bytes where the device is a GPU */
  int64_t kv_row_stride;        /* elements from row to row, also across pages; GPU: 16 bytes */
  const int32_t* kv_indptr;     /* [batch + 1]: request b has pages indptr[b] .. indptr[b + 1] */
  const int32_t* kv_indices;    /* page numbers; those past the last request are never used */
  const int32_t* last_page_len; /* [batch]: rows used of the last page */

  void* out;  /* [batch * q_len, nhead, 512] bf16, contiguous; every row is written */
  float* lse; /* [batch * q_len, nhead] natural log, -inf where there are no rows; may be null */
  void* workspace;         /* on 64 bytes; may be null for one split */
  int64_t workspace_bytes; /* at least mla_decode_workspace_bytes() */

  /* Rows of the pool at kv, 0 for unknown: some GPUs address a pool below 2^32 bytes faster. May
   * lie beyond struct_size. */
  int64_t kv_rows;
} mla_tensors;

/* Version of the library in use: major * 10000 + minor * 100 + patch, compatible as the policy's
 * is. */
MLA_DECODE_API uint32_t mla_decode_version(void);

/* device: "cpu", "cpu:threads=N" or "hip:N". Where it fails *decode is null, and up to
 * `message_size` bytes of `message` (which may be null) say why. */
MLA_DECODE_API mla_status mla_decode_open(const char* device,
                                          mla_decode** decode,
                                          char* message,
                                          size_t message_size);

/* What mla_policy_open() wants to know of the device. Its texts live as long as the handle. */
MLA_DECODE_API mla_status mla_decode_describe(const mla_decode* decode, mla_device_desc* device);

/* Workspace of a launch; 0 for one split and for counts below 1. Monotone in every argument, so
 * that what suffices for the largest suffices for all. mla_policy_workspace_bound() is this for
 * every plan that a policy can answer. */
MLA_DECODE_API int64_t mla_decode_workspace_bytes(int32_t batch,
                                                  int32_t q_len,
                                                  int32_t nhead,
                                                  int32_t splits);

/* Of the plan only the knobs are looked at. `stream` is the device's stream (a hipStream_t); a CPU
 * has none, takes null, and returns when the output is written. On a GPU the caller's current
 * device has to be the handle's.
 *
 * MLA_ERROR_USAGE: an argument that mla_decode_message() names; MLA_ERROR_DEVICE: the device
 * refused the launch. Nothing was launched then. */
MLA_DECODE_API mla_status mla_decode_launch(mla_decode* decode,
                                            const mla_tensors* tensors,
                                            const mla_plan* plan,
                                            void* stream);

/* Why the last launch failed, empty where it did not: one line, cut to `size` bytes with the
 * terminating zero. Returns the bytes that the whole text needs. */
MLA_DECODE_API size_t mla_decode_message(const mla_decode* decode, char* buffer, size_t size);

/* After the last launch has completed. Null is allowed. */
MLA_DECODE_API void mla_decode_close(mla_decode* decode);

#ifdef __cplusplus
}
#endif

#endif /* MLA_DECODE_H_ */
