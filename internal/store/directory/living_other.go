//go:build !linux

package directory

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// isAlive reports whether a process with this number exists.
func isAlive(pid int, _ time.Time) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" { // a process is found only while it lives, and takes no signal
		return true
	}
	return p.Signal(syscall.Signal(0)) == nil
}
