package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
)

// account is a user of this machine; unknown where files have no owner that a program
// can read.
type account struct {
	uid, gid int
	known    bool
}

// superuser may do everything with every file.
const superuser = 0

// othersWrite are the bits of a mode that let others than the owner write.
const othersWrite = 0o022

func thisUser() account {
	uid := os.Geteuid()
	return account{uid: uid, gid: os.Getegid(), known: uid >= 0}
}

// name is the account's name, as far as this machine knows it.
func (a account) name() string {
	if u, err := user.LookupId(strconv.Itoa(a.uid)); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(a.uid)
}

func (a account) String() string {
	if name := a.name(); name != strconv.Itoa(a.uid) {
		return fmt.Sprintf("%s (uid %d)", name, a.uid)
	}
	return fmt.Sprintf("uid %d", a.uid)
}

// judge refuses a store that someone else could change: one that others can write, or
// that belongs to another user, unless root runs this. Folders above the store are
// not checked: whoever can rename there can't make a directory that is ours, and
// shared or CI working directories are often writable by all. Root alone uses other
// users' stores, and so not where anyone could have made them.
func (f *folder) judge() (fs.FileInfo, error) {
	named, err := os.Lstat(f.path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	f.owner = ownerOf(info)
	by := ownerOf(named)
	switch {
	case !f.owner.known:
	case named.Mode()&fs.ModeSymlink != 0 && by.uid != f.user.uid && by.uid != f.owner.uid && by.uid != superuser:
		err = fmt.Errorf("%s is a symbolic link that %s made: name the directory itself", f.path, by)
	case f.owner.uid != f.user.uid && f.user.uid != superuser:
		err = fmt.Errorf("%s belongs to %s, and this runs as %s: run it as %s, name another store, or have root give this one away with chown -R %s %s",
			f.path, f.owner, f.user, f.owner.name(), f.user.name(), f.path)
	case info.Mode().Perm()&othersWrite != 0:
		err = f.openToOthers(".", info)
	case f.owner.uid != superuser && f.user.uid == superuser:
		err = f.judgeAbove()
	}
	return info, err
}

func (f *folder) judgeAbove() error {
	at, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return err
	}
	above := filepath.Dir(at)
	info, err := os.Stat(above)
	if err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s belongs to %s, and anyone could have put it into %s, whose mode is %s: run this as %s, or take that right from others "+
			"with chmod o-w %s",
			f.path, f.owner, above, octal(info), f.owner.name(), above)
	}
	return err
}

// trust refuses what someone else could have put into the store, or could change.
func (f *folder) trust(name string, info fs.FileInfo) error {
	by := ownerOf(info)
	switch {
	case !f.owner.known || !by.known:
		return nil
	case by.uid != f.owner.uid && by.uid != superuser:
		return f.unfit(name, "belongs to %s, and the store to %s: see whether it is right, and have root give it back with chown %s %s",
			by, f.owner, f.owner.name(), f.whole(name))
	case info.Mode().Perm()&othersWrite != 0:
		return f.openToOthers(name, info)
	}
	return nil
}

func (f *folder) openToOthers(name string, info fs.FileInfo) error {
	return f.unfit(name, "can be written by others than its owner (its mode is %s): see whether it is right, and then chmod go-w %s; on a file system that "+
		"keeps no modes there can be no store",
		octal(info), f.whole(name))
}

// fit refuses a file that is not one of the store's.
func (f *folder) fit(name string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return f.unfit(name, "is %s where the store has a file: move it away", kindOf(info))
	case info.Size() > maxDocument:
		return f.tooLarge(name, info.Size())
	}
	return f.trust(name, info)
}

// give makes the files that root creates in another user's store that user's, who
// could not use them otherwise.
func (f *folder) give(file *os.File) error {
	if !f.owner.known || f.user.uid != superuser || f.owner.uid == superuser {
		return nil
	}
	if err := file.Chown(f.owner.uid, f.owner.gid); err != nil {
		return fmt.Errorf("cannot give it to %s, whose store this is: run this as %s: %w", f.owner, f.owner.name(), err)
	}
	return nil
}

// denied adds to an error of the operating system who owns the file or folder.
func (f *folder) denied(name string, err error) error {
	if !errors.Is(err, fs.ErrPermission) || runtime.GOOS == "windows" {
		return err
	}
	at := "."
	for next := range prefixes(name) {
		if _, err := f.root.Lstat(next); err != nil {
			break
		}
		at = next
	}
	info, failed := f.root.Lstat(at)
	if failed != nil {
		return err
	}
	by := ownerOf(info)
	remedy := fmt.Sprintf("give yourself the right with chmod u+rwX %s", f.whole(at))
	if by.uid != f.user.uid {
		remedy = fmt.Sprintf("run this as %s, or have root give the store back with chown -R %s %s", by.name(), f.owner.name(), f.path)
	}
	return fmt.Errorf("%w: %s belongs to %s, and its mode is %s: %s", err, f.whole(at), by, octal(info), remedy)
}

func octal(info fs.FileInfo) string { return fmt.Sprintf("%04o", info.Mode().Perm()) }
