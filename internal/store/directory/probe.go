package directory

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// probeSize is what the smallest documents take of a disk.
const probeSize = 4 << 10

var _ store.Probed = (*Store)(nil)

// Unwritable says why nothing that is written here would stay: the disk is full, or can
// only be read. What this user alone may not do is no reason, since runs may be
// another's. It leaves nothing behind.
func (s *Store) Unwritable() error {
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	dir := filepath.Join(locksDir, writesDir)
	if err := f.walk(dir); err != nil {
		return nil // nothing was ever written, so nothing is known to fail
	}
	// Whoever holds the first of the locks of writes removes it, should this be killed.
	name := filepath.Join(dir, "00-"+rand.Text()+temporaryEnd)
	file, err := f.create(name)
	if err == nil {
		_, err = file.Write(make([]byte, probeSize))
		err = errors.Join(err, file.Sync(), file.Close(), f.remove(name))
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS} {
		if errors.Is(err, full) {
			return fmt.Errorf("nothing can be written to the store %s: %w", s, full)
		}
	}
	return nil
}
