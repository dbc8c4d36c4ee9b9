package directory

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks is how many of them Linux counts a second, in what it tells of processes.
const ticks = 100

// clockStep is by how much the clock may have been set since the machine started.
const clockStep = time.Minute

// living says whether a process that took something at a time lives. One that began
// later only has its number.
func living(pid int, then time.Time) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	began, known := begun(pid)
	return !known || !began.IsZero() && began.Before(then.Add(clockStep))
}

// begun is when a process began, if /proc tells (proc_pid_stat(5)); zero of one that
// has ended, and that nobody has asked for yet.
func begun(pid int) (time.Time, bool) {
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
