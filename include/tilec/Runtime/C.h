/*===- C.h - the runtime for C and what speaks it (Python's ctypes) -*- C -*-===*/
/* Part of tilec, under the Apache License v2.0 with LLVM Exceptions.         */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    */
/*===----------------------------------------------------------------------===*/
/*
 * Loads a module that `tilec --emit=module` wrote and launches its kernels:
 *
 *   tilec_kernel *k = tilec_load("matmul.tilemod", "matmul");
 *   tilec_argument args[3] = {...};
 *   if (!k || tilec_launch(k, stream, 3, args) != 0)
 *     puts(tilec_last_error());
 *   tilec_unload(k);
 *
 * All checks and choices are those of tilec/Runtime/Kernel.h. A kernel may be
 * launched from several threads; messages are kept per thread.
 */
#ifndef TILEC_RUNTIME_C_H
#define TILEC_RUNTIME_C_H

#include <stdint.h>

#if defined(__GNUC__)
#define TILEC_EXPORT __attribute__((visibility("default")))
#else
#define TILEC_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tilec_kernel tilec_kernel;

/* An array when `rank` > 0, else a scalar, whose bits are in `bits`. A scalar of "int", "f64"
 * or "bool" is converted to the parameter's dtype, if it is a value of that; others match. */
typedef struct tilec_argument {
  const char *dtype;  /* as in the language: "f32", "bf16", "int", ... */
  int32_t rank;       /* 0 ... 6 */
  int32_t is_strided; /* 0: row-major, `strides` is not read */
  uint64_t bits;      /* a scalar's value, or the address of an array */
  int64_t dims[6];    /* elements */
  int64_t strides[6]; /* elements */
} tilec_argument;

/* The kernel called `name` of the module in file `path`, or null. */
TILEC_EXPORT tilec_kernel *tilec_load(const char *path, const char *name);
TILEC_EXPORT void tilec_unload(tilec_kernel *kernel);
/* Launches on the grid that the kernel states; `stream` is a CUstream. 0 when the
 * launch is under way. */
TILEC_EXPORT int tilec_launch(tilec_kernel *kernel, void *stream, int32_t num_arguments,
                              const tilec_argument *arguments);
/* The same on a grid of three extents, which a kernel that states none needs. */
TILEC_EXPORT int tilec_launch_grid(tilec_kernel *kernel, void *stream, const int64_t *grid,
                                   int32_t num_arguments, const tilec_argument *arguments);
/* Why the last call on this thread failed; "" when it did not. */
TILEC_EXPORT const char *tilec_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TILEC_RUNTIME_C_H */
