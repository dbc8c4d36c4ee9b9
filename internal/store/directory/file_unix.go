//go:build unix

package directory

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from following a link, and from blocking on a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func ownerOf(info fs.FileInfo) account {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return account{uid: int(s.Uid), gid: int(s.Gid), known: true}
	}
	return account{}
}

// tryLock locks an open file, unless another process has locked it. The file is open for writing
// too, because NFS does not lock others.
func tryLock(file *os.File) (locked bool, err error) {
	err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock does not rely on closing the file, since a process that is being started may have it open
// too.
func unlock(file *os.File) error { return flock(file, syscall.LOCK_UN) }

func flock(file *os.File, how int) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var answer error
	err = raw.Control(func(fd uintptr) {
		for again := true; again; again = errors.Is(answer, syscall.EINTR) {
			answer = syscall.Flock(int(fd), how)
		}
	})
	return errors.Join(err, answer)
}
