package directory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

var _ store.Movable = (*Store)(nil)

// Mark reads the store's mark.
func (s *Store) Mark(context.Context) (store.Mark, error) {
	f, err := s.enter()
	if err != nil {
		return store.Mark{}, err
	}
	defer f.leave()
	return s.markIn(f)
}

func (s *Store) markIn(f *folder) (store.Mark, error) {
	data, _, err := f.read(store.MarkName)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Mark{}, nil
	}
	if err != nil {
		return store.Mark{}, fmt.Errorf("cannot open the store %s: %w", s, f.denied(store.MarkName, err))
	}
	return store.DecodeMark(data, f.whole(store.MarkName))
}

// unmarked refuses a store that was moved or is being moved, unless this process moves it.
func (s *Store) unmarked(f *folder) error {
	if s.moving {
		return nil
	}
	m, err := s.markIn(f)
	if err != nil {
		return err
	}
	return m.Refuses(s)
}

// SetMark replaces the store's mark; the zero value removes it.
func (s *Store) SetMark(ctx context.Context, m store.Mark) error {
	f, err := s.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	w, err := f.lockWrites(ctx, store.Key{Name: store.MarkName})
	if err != nil {
		return fmt.Errorf("cannot mark the store %s: %w", s, err)
	}
	defer w.done()
	if m == (store.Mark{}) {
		err = errors.Join(f.remove(store.MarkName), f.sync(".", nil))
	} else {
		var data []byte
		if data, err = json.Marshal(m); err == nil {
			_, err = w.replace(store.MarkName, append(data, '\n'), time.Time{})
		}
	}
	if err != nil {
		return fmt.Errorf("cannot mark the store %s: %w", s, f.denied(store.MarkName, err))
	}
	return nil
}

// Grace is zero: each write reads the mark.
func (s *Store) Grace() time.Duration { return 0 }

// Fits rejects documents that could not be read again.
func (s *Store) Fits(key store.Key, data []byte) error {
	if len(data) > maxDocument {
		return fmt.Errorf("%s in %s: %w: it has %d bytes, and no more than %d are read", key, s, store.ErrTooLarge, len(data), maxDocument)
	}
	return nil
}
