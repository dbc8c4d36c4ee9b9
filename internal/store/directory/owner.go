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

// account is a user of this machine; unknown if a program cannot read the owners of files.
type account struct {
	uid, gid int
	known    bool
}

const superuser = 0

// othersWrite are the mode bits that let others than the owner write.
const othersWrite = 0o022

func thisUser() account {
	uid := os.Geteuid()
	return account{uid: uid, gid: os.Getegid(), known: uid >= 0}
}

// name returns the account's name, if this machine knows it.
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

// judge refuses a store that another user could change: one that others can write, or that belongs
// to another user, unless this is root. It does not check the folders above the store. A user who
// can rename there cannot create a directory that is ours, and shared or CI working directories are
// often writable by all. Only root uses other users' stores, and only if no third user could have
// created them.
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
		err = fmt.Errorf("%s belongs to %s, and this runs as %s: run it as %s, name another store, or run chown -R %s %s as root",
			f.path, f.owner, f.user, f.owner.name(), f.user.name(), f.path)
	case info.Mode().Perm()&othersWrite != 0:
		err = f.refuseOpenToOthers(".", info)
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
		return fmt.Errorf("%s belongs to %s, and anyone could have put it into %s (mode %s): run this as %s, or run chmod o-w %s",
			f.path, f.owner, above, octal(info), f.owner.name(), above)
	}
	return err
}

// trust refuses a file that another user could have put into the store, or could change.
func (f *folder) trust(name string, info fs.FileInfo) error {
	by := ownerOf(info)
	switch {
	case !f.owner.known || !by.known:
		return nil
	case by.uid != f.owner.uid && by.uid != superuser:
		return f.unfit(name, "belongs to %s, and the store to %s: check its content, and run chown %s %s as root",
			by, f.owner, f.owner.name(), f.whole(name))
	case info.Mode().Perm()&othersWrite != 0:
		return f.refuseOpenToOthers(name, info)
	}
	return nil
}

func (f *folder) refuseOpenToOthers(name string, info fs.FileInfo) error {
	return f.unfit(name, "can be written by others than its owner (its mode is %s): check its content, and run chmod go-w %s. "+
		"A store needs a file system that keeps modes",
		octal(info), f.whole(name))
}

// fit refuses a file that does not belong to the store.
func (f *folder) fit(name string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return f.unfit(name, "is %s where the store has a file: move it away", kindOf(info))
	case info.Size() > maxDocument:
		return f.tooLarge(name, info.Size())
	}
	return f.trust(name, info)
}

// give changes the owner of files that root creates in another user's store to that user, who could
// not use them otherwise.
func (f *folder) give(file *os.File) error {
	if !f.owner.known || f.user.uid != superuser || f.owner.uid == superuser {
		return nil
	}
	if err := file.Chown(f.owner.uid, f.owner.gid); err != nil {
		return fmt.Errorf("cannot change its owner to %s, the owner of the store: run this as %s: %w", f.owner, f.owner.name(), err)
	}
	return nil
}

// denied adds the owner of the file or folder to an error of the operating system.
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
		remedy = fmt.Sprintf("run this as %s, or run chown -R %s %s as root", by.name(), f.owner.name(), f.path)
	}
	return fmt.Errorf("%w: %s belongs to %s, and its mode is %s: %s", err, f.whole(at), by, octal(info), remedy)
}

func octal(info fs.FileInfo) string { return fmt.Sprintf("%04o", info.Mode().Perm()) }
