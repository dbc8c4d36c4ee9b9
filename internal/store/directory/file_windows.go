package directory

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const openFlags = 0

// ownerOf returns an unknown account: access lists define permissions there, and files inherit them
// from their directory.
func ownerOf(fs.FileInfo) account { return account{} }

// tryLock locks an open file, unless another process has locked it.
func tryLock(file *os.File) (locked bool, err error) {
	err = onHandle(file, func(h windows.Handle) error {
		return windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlock(file *os.File) error {
	return onHandle(file, func(h windows.Handle) error {
		return windows.UnlockFileEx(h, 0, 1, 0, &windows.Overlapped{})
	})
}

func onHandle(file *os.File, do func(windows.Handle) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var answer error
	err = raw.Control(func(handle uintptr) { answer = do(windows.Handle(handle)) })
	return errors.Join(err, answer)
}
