package directory

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// probeSize is the disk space of the smallest documents.
const probeSize = 4 << 10

var _ store.Probed = (*Store)(nil)

// Unwritable returns why no write would last: the disk is full or read-only. A missing permission
// of this user is no reason, since runs may use another. It leaves nothing behind.
func (s *Store) Unwritable() error {
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	dir := filepath.Join(locksDir, writesDir)
	if err := f.walk(dir); err != nil {
		return nil // nothing was ever written, so no failure is known
	}
	// If this process is killed, the next holder of the first write lock removes the file.
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
