#!/bin/sh
# Compiles NAME.bpf.c of the current folder into NAME_x86_bpfel.{go,o} and
# NAME_arm64_bpfel.{go,o}, which are committed.
# Called by the go:generate line of each probe, generate.sh NAME -type T …,
# and by the test that holds the objects to their C, which sets GENERATE_INTO.
# The headers below asm/ are this host's for both: what differs is in machine.h.
# -mcpu=v3: 32-bit operations, which every kernel from 5.1 on runs.
set -eu
name=$1
shift
exec go run github.com/cilium/ebpf/cmd/bpf2go \
	-cc clang-19 -strip llvm-strip-19 -target amd64,arm64 -go-package "$name" \
	-output-dir "${GENERATE_INTO:-.}" "$@" \
	"$name" "$name.bpf.c" -- \
	-I/usr/include/x86_64-linux-gnu -O2 -mcpu=v3 -g -Wall -Werror
