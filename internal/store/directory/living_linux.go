package directory

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is how many ticks Linux counts per second in its process times.
const ticks = 100

// clockStep is by how much the clock may have been set since boot.
const clockStep = time.Minute

// isAlive reports whether the process that took something at a time is alive. A process that began
// later only reuses its number.
func isAlive(pid int, then time.Time) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	began, known := startTime(pid)
	return !known || !began.IsZero() && began.Before(then.Add(clockStep))
}

// startTime returns when a process began, if /proc reports it (proc_pid_stat(5)). It returns zero for
// one that ended and that its parent has not reaped.
func startTime(pid int) (time.Time, bool) {
	const state, started = 0, 19 // counted from the third, after the command in parentheses
	of, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return time.Time{}, false
	}
	fields := strings.Fields(string(of[strings.LastIndexByte(string(of), ')')+1:]))
	if len(fields) <= started {
		return time.Time{}, false
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return time.Time{}, true
	}
	after, err := strconv.ParseInt(fields[started], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	machine, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(machine)) {
		if text, found := strings.CutPrefix(line, "btime "); found {
			boot, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return time.Unix(boot+after/ticks, 0), err == nil
		}
	}
	return time.Time{}, false
}
