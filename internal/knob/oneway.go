package knob

import (
	"errors"
	"strings"
)

// refuseOneWay says why a setting is no knob: nothing could put it back.
func refuseOneWay(name string, _ Target) (Knob, bool, error) {
	if name == "audit" || strings.HasPrefix(name, "audit.") {
		return Knob{}, true, errors.New("it cannot be put back: once on, the kernel keeps audit in every system call " +
			"of a process until that ends; compare two hosts, or boot with audit=0")
	}
	if name == "mitigations" {
		return Knob{}, true, errors.New("it is decided at boot: compare two boots or two hosts")
	}
	return Knob{}, false, nil
}

// oneWay are files of /proc/sys that no later write undoes, and why.
var oneWay = []struct{ prefix, reason string }{
	{"kernel.modules_disabled", "once 1 it stays 1 until the next boot"},
	{"kernel.kexec_load_disabled", "once 1 it stays 1 until the next boot"},
	{"kernel.unprivileged_bpf_disabled", "once 1 it stays 1 until the next boot"},
	{"kernel.yama.ptrace_scope", "once 3 it stays 3 until the next boot"},
	{"kernel.core_pattern", "it names a program that root would run"},
	{"kernel.modprobe", "it names a program that root would run"},
	{"kernel.poweroff_cmd", "it names a program that root would run"},
	{"kernel.hotplug", "it names a program that root would run"},
	{"kernel.sysrq", "it opens the console's keys to the machine's end"},
	{"kernel.cad_pid", "it says whom Ctrl-Alt-Del reaches"},
	{"kernel.random.", "it belongs to the random number generator"},
	{"kernel.ns_last_pid", "it moves on by itself"},
	{"kernel.pty.", "it is a count"},
	{"fs.binfmt_misc.", "it names programs that run in others' place"},
	{"vm.drop_caches", "it is an action: what it drops is not put back"},
	{"vm.compact_memory", "it is an action: what it moves is not put back"},
	{"vm.stat_refresh", "it is an action"},
}

func oneWaySysctl(dotted string) (reason string, listed bool) {
	for _, each := range oneWay {
		if strings.HasPrefix(dotted, each.prefix) {
			return "it is no knob: " + each.reason, true
		}
	}
	if strings.HasSuffix(dotted, ".flush") {
		return "it is no knob: it is an action", true
	}
	return "", false
}
