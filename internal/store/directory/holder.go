package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// lockPath returns the path of a lock without its extension, and the file that names its holder.
func lockPath(name string) (path, about string) {
	path = filepath.Join(locksDir, filepath.FromSlash(name))
	return path, path + extension
}

// Holder returns the holder of the named lock from its record, if that is a process of this
// machine. The state of another machine's process is unknown.
func (s *Store) Holder(ctx context.Context, name string) (*store.Holder, error) {
	if err := errors.Join(ctx.Err(), store.ValidateName(name)); err != nil {
		return nil, err
	}
	f, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	_, about := lockPath(name)
	h, err := f.holder(about)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the holder of the lock %q of %s: %w", name, s, err)
	}
	if host, err := os.Hostname(); err != nil || host != h.Host {
		return nil, nil
	}
	h.Gone = !isAlive(h.PID, h.Since)
	return &h, nil
}

func (f *folder) holderText(about string) string {
	h, err := f.holder(about)
	if err != nil {
		return "another process"
	}
	return h.String()
}

func (f *folder) holder(about string) (store.Holder, error) {
	var h store.Holder
	data, _, err := f.read(about)
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err == nil && h.PID <= 0 {
		err = errors.New("it names no process")
	}
	return h, err
}
