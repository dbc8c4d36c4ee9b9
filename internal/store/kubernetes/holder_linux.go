package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// thisProcess identifies this process, if the system reports all of its identity.
func thisProcess() (process, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return process{}, false
	}
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return process{}, false
	}
	times, err := os.Readlink("/proc/self/ns/time")
	if err != nil && !errors.Is(err, os.ErrNotExist) { // older kernels have none
		return process{}, false
	}
	own, err := stat("self")
	if err != nil {
		return process{}, false
	}
	return process{
		Host: hostname(), Boot: strings.TrimSpace(string(boot)), PIDNamespace: pids, TimeNamespace: times,
		PID: os.Getpid(), Started: own.started,
	}, true
}

// death proves that a process of this boot and these namespaces has ended. A process that /proc
// does not show may be hidden: that proves nothing.
func (p process) death() death {
	if p.PID <= 0 {
		return death{} // a group of processes
	}
	if errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return death{fmt.Sprintf("there is no process %d", p.PID)}
	}
	if !hasOwnProc() {
		return death{}
	}
	found, err := stat(strconv.Itoa(p.PID))
	switch {
	case err != nil:
	case found.started != p.Started:
		return death{fmt.Sprintf("process %d is another one", p.PID)}
	case found.ended():
		return death{fmt.Sprintf("process %d has ended, and its parent has not asked for it yet", p.PID)}
	}
	return death{}
}

// hasOwnProc reports whether /proc numbers processes as this one does: a container may have the
// /proc of its host.
func hasOwnProc() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if numbers, found := strings.CutPrefix(line, "NSpid:"); found {
			// One number per namespace, from that of /proc to its own.
			return strings.TrimSpace(numbers) == strconv.Itoa(os.Getpid())
		}
	}
	return false
}

// processStat is the status of a process in /proc (proc_pid_stat(5)).
type processStat struct {
	state   string
	threads int
	started uint64
}

// ended reports whether no thread of the process runs. If only its first thread ended, others may
// still run.
func (s processStat) ended() bool { return (s.state == "Z" || s.state == "X") && s.threads <= 1 }

func stat(of string) (processStat, error) {
	data, err := os.ReadFile("/proc/" + of + "/stat")
	if err != nil {
		return processStat{}, err
	}
	return parseStat(string(data))
}

// parseStat parses the fields after the command, which is in parentheses and may contain anything.
func parseStat(text string) (processStat, error) {
	const state, threads, started = 0, 17, 19 // counted from the third
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= started {
		return processStat{}, fmt.Errorf("%q is too short", text)
	}
	count, err := strconv.Atoi(fields[threads])
	if err != nil {
		return processStat{}, err
	}
	ticks, err := strconv.ParseUint(fields[started], 10, 64)
	return processStat{state: fields[state], threads: count, started: ticks}, err
}
