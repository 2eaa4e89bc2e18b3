package host

import "strings"

// vmActions are files of /proc/sys/vm that do something when they are read or
// written and hold no setting: reading stat_refresh runs work on every CPU.
var vmActions = map[string]bool{"compact_memory": true, "drop_caches": true, "stat_refresh": true}

// sysctlNames are the settings outside vm.* that change how fast programs run.
// Values that the kernel counts up by itself, keys and seeds do not belong here.
var sysctlNames = []string{
	"fs.aio-max-nr",
	"fs.file-max",
	"fs.inotify.max_user_watches",
	"fs.nr_open",
	"fs.pipe-max-size",
	"fs.pipe-user-pages-soft",
	"kernel.ftrace_enabled",
	"kernel.hung_task_timeout_secs",
	"kernel.io_uring_disabled",
	"kernel.kptr_restrict",
	"kernel.nmi_watchdog",
	"kernel.numa_balancing",
	"kernel.perf_cpu_time_max_percent",
	"kernel.perf_event_max_sample_rate",
	"kernel.perf_event_max_stack",
	"kernel.perf_event_mlock_kb",
	"kernel.perf_event_paranoid",
	"kernel.pid_max",
	"kernel.randomize_va_space",
	"kernel.sched_autogroup_enabled",
	"kernel.sched_base_slice_ns",
	"kernel.sched_cfs_bandwidth_slice_us",
	"kernel.sched_energy_aware",
	"kernel.sched_latency_ns",
	"kernel.sched_migration_cost_ns",
	"kernel.sched_min_granularity_ns",
	"kernel.sched_rr_timeslice_ms",
	"kernel.sched_rt_period_us",
	"kernel.sched_rt_runtime_us",
	"kernel.sched_schedstats",
	"kernel.sched_wakeup_granularity_ns",
	"kernel.shmall",
	"kernel.shmmax",
	"kernel.soft_watchdog",
	"kernel.split_lock_mitigate",
	"kernel.task_delayacct",
	"kernel.threads-max",
	"kernel.timer_migration",
	"kernel.unprivileged_bpf_disabled",
	"kernel.watchdog",
	"kernel.watchdog_thresh",
	"kernel.yama.ptrace_scope",
	"kernel.bpf_stats_enabled",
	"net.core.bpf_jit_enable",
	"net.core.bpf_jit_harden",
	"net.core.busy_poll",
	"net.core.busy_read",
	"net.core.default_qdisc",
	"net.core.netdev_budget",
	"net.core.netdev_budget_usecs",
	"net.core.netdev_max_backlog",
	"net.core.optmem_max",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.rps_sock_flow_entries",
	"net.core.somaxconn",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_adv_win_scale",
	"net.ipv4.tcp_autocorking",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_fastopen",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_time",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_mem",
	"net.netfilter.nf_conntrack_max",
}

// sysctls keeps all plain files of /proc/sys/vm and the named ones of the rest.
func (collect *collector) sysctls() {
	const virtualMemory = "/proc/sys/vm/"
	for _, name := range collect.files.names(virtualMemory) {
		if !vmActions[name] {
			collect.file("vm."+clean(name, 64), virtualMemory+name)
		}
	}
	for _, name := range sysctlNames {
		collect.file(name, "/proc/sys/"+strings.ReplaceAll(name, ".", "/"))
	}
}
