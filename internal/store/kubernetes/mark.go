package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

var _ store.Movable = (*Store)(nil)

const (
	// markFor is how long a process may write to a store without reading its mark again:
	// a read before each write would double the calls of a run.
	markFor = 10 * time.Second
	// markGrace is markFor, and how long a write that was begun may take.
	markGrace = markFor + 5*time.Second
)

// judgeMark refuses a store that was moved or is being moved, by its description, unless
// this process moves it.
func (s *Store) judgeMark(description object) error {
	if s.options.Moving {
		return nil
	}
	m, err := s.markOf(description)
	if err != nil {
		return err
	}
	s.checked.Store(time.Now().UnixMilli())
	return m.Refuses(s)
}

func (s *Store) markOf(description object) (store.Mark, error) {
	var data []byte
	if text, ok := description.text[store.MarkName]; ok {
		data = []byte(text)
	}
	return store.DecodeMark(data, fmt.Sprintf("the entry %s of %s", store.MarkName, s.layoutPath()))
}

// unmarked refuses to write to a store that was moved since it was opened.
func (s *Store) unmarked(ctx context.Context) error {
	if s.options.Moving || time.Since(time.UnixMilli(s.checked.Load())) < s.options.MarkFor {
		return nil
	}
	return s.present(ctx)
}

// Mark reads the store's mark.
func (s *Store) Mark(ctx context.Context) (store.Mark, error) {
	description, err := s.description(ctx)
	if err != nil {
		return store.Mark{}, err
	}
	return s.markOf(description)
}

func (s *Store) description(ctx context.Context) (found object, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		found, err = s.maps.get(ctx, layoutName)
		return err
	})
	if err != nil {
		err = fmt.Errorf("cannot open the store %s: %w", s, kubeclient.Wrap("get", s.layoutPath(), err))
	}
	return found, err
}

// SetMark replaces the store's mark; the zero value removes it.
func (s *Store) SetMark(ctx context.Context, m store.Mark) error {
	for n := 1; ; n++ {
		description, err := s.description(ctx)
		if err != nil {
			return err
		}
		if m == (store.Mark{}) {
			delete(description.text, store.MarkName)
		} else {
			data, err := json.Marshal(m)
			if err != nil {
				return err
			}
			description.text[store.MarkName] = string(data)
		}
		err = retry(ctx, func(ctx context.Context) error {
			_, err := s.maps.update(ctx, description)
			return err
		})
		switch {
		case err == nil:
			return nil
		case !lostRace(err) || n == 3:
			return fmt.Errorf("cannot mark the store %s: %w", s, kubeclient.Wrap("update", s.layoutPath(), err))
		}
	}
}

// Grace is how long processes that opened the store before a mark may still write.
func (s *Store) Grace() time.Duration { return markGrace }

// Fits refuses documents that are larger than an object of the API.
func (s *Store) Fits(key store.Key, data []byte) error {
	if _, err := newObject(key, data); err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}
