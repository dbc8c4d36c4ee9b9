package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// temporaryPattern names the directories that end with their process.
const temporaryPattern = "localkube-*"

// longestRoot leaves room for a socket's name in the 104 bytes that macOS has
// for a socket's path.
const longestRoot = 86

// directory has the keys, the data and the log of one cluster. Its
// lock file is held while the cluster runs.
type directory struct {
	root      string
	lock      *os.File
	temporary bool
}

// openDirectory opens a directory, or a new temporary one if none is named. It first removes
// temporary ones of killed processes.
func openDirectory(name string) (*directory, error) {
	temporary := name == ""
	if temporary {
		sweep(filepath.Join(os.TempDir(), temporaryPattern))
		made, err := os.MkdirTemp("", temporaryPattern)
		if err != nil {
			return nil, err
		}
		name = made
	}
	root, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if len(root) > longestRoot {
		return nil, fmt.Errorf("the path %s is too long for the sockets in it: name a --dir of at most %d bytes", root, longestRoot)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockDirectory(root)
	if err != nil {
		return nil, fmt.Errorf("%s is in use by another localkube: end it first, or name another --dir (%w)", root, err)
	}
	return &directory{root: root, lock: lock, temporary: temporary}, nil
}

func lockDirectory(root string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// sweep removes the directories without a holder. One without a lock file is just being
// created.
func sweep(pattern string) {
	roots, _ := filepath.Glob(pattern)
	for _, root := range roots {
		if _, err := os.Stat(filepath.Join(root, "lock")); err != nil {
			continue
		}
		if lock, err := lockDirectory(root); err == nil {
			_ = os.RemoveAll(root)
			_ = lock.Close()
		}
	}
}

// close lets go of the directory, and removes it if it was a temporary one.
func (d *directory) close() {
	if d.temporary {
		_ = os.RemoveAll(d.root)
	}
	_ = d.lock.Close()
}

func (d *directory) path(name string) string { return filepath.Join(d.root, name) }

// listen opens the API server's port on loopback: the one asked for, else the
// one that this directory's kubeconfig names, else a free one.
func (d *directory) listen(ctx context.Context, port int) (net.Listener, error) {
	if port == 0 {
		kept, err := os.ReadFile(d.path("port"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		port, _ = strconv.Atoi(strings.TrimSpace(string(kept)))
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("open the API server's port: %w", err)
	}
	taken := listener.Addr().(*net.TCPAddr).Port
	if err := os.WriteFile(d.path("port"), []byte(strconv.Itoa(taken)+"\n"), 0o600); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return listener, nil
}

func (d *directory) logTail() string {
	const lines = 20
	log, err := os.ReadFile(d.path("log"))
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
