/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Telling the unwinder library of a process with new code, so that it knows the
 * mappings before the first sample falls into them. */
#pragma once

#include "kernel.h"

/* The unwinder library's own queue of processes to look at: replaced
 * by the library's maps at load; announce stays 0 without the library. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, bool);
} pid_events SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 0);
	__type(key, int);
	__type(value, __u32);
} report_events SEC(".maps");
/* Holds an entry from a report until the library has looked: one report is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, bool);
} inhibit_events SEC(".maps");
const volatile __u32 announce = 0;

static __always_inline void announce_process(void *ctx, __u64 pid_tgid)
{
	bool seen = true;
	__u32 generic_pid_event = 1; /* EVENT_TYPE_GENERIC_PID of the library */
	if (!announce)
		return;
	bpf_map_update_elem(&pid_events, &pid_tgid, &seen, BPF_ANY);
	if (bpf_map_lookup_elem(&inhibit_events, &generic_pid_event) ||
	    bpf_map_update_elem(&inhibit_events, &generic_pid_event, &seen, BPF_NOEXIST))
		return;
	bpf_perf_event_output(ctx, &report_events, BPF_F_CURRENT_CPU, &generic_pid_event,
			      sizeof(generic_pid_event));
}
