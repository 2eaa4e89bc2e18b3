/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The edges of a window, for programs that add up: attaching and detaching take
 * tens of milliseconds, in which they run and nothing must be counted. */
#pragma once

#include "kernel.h"

#define NOT_BEGUN ~0ull
#define OVER (~0ull - 1)

volatile __u64 begins = NOT_BEGUN; /* the window's begin; outside of a window later than any time */

static __always_inline bool within_window(__u64 time) { return time >= begins; }
