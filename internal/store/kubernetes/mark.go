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
	// markFor is how long a process may write to a store without reading its mark again. A read
	// before each write would double the calls of a run.
	markFor = 10 * time.Second
	// markGrace is markFor plus the longest duration of a write.
	markGrace = markFor + 5*time.Second
)

// judgeMark refuses a store that was moved or is being moved, by its description, unless this
// process moves it.
func (l *layout) judgeMark(description object) error {
	if l.options.Moving {
		return nil
	}
	m, err := l.markOf(description)
	if err != nil {
		return err
	}
	l.checked.Store(time.Now().UnixMilli())
	return m.Refuses(l)
}

func (l *layout) markOf(description object) (store.Mark, error) {
	var data []byte
	if text, ok := description.text[store.MarkName]; ok {
		data = []byte(text)
	}
	return store.DecodeMark(data, fmt.Sprintf("the entry %s of %s", store.MarkName, l.layoutPath()))
}

// refuseMoved refuses to write to a store that was moved since it was opened.
func (l *layout) refuseMoved(ctx context.Context) error {
	if l.options.Moving || time.Since(time.UnixMilli(l.checked.Load())) < l.options.MarkFor {
		return nil
	}
	return l.present(ctx)
}

func (l *layout) Mark(ctx context.Context) (store.Mark, error) {
	description, err := l.description(ctx)
	if err != nil {
		return store.Mark{}, err
	}
	return l.markOf(description)
}

func (l *layout) description(ctx context.Context) (found object, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		found, err = l.maps.get(ctx, layoutName)
		return err
	})
	if err != nil {
		err = fmt.Errorf("cannot open the store %s: %w", l, kubeclient.Wrap("get", l.layoutPath(), err))
	}
	return found, err
}

// SetMark replaces the store's mark; the zero value removes it.
func (l *layout) SetMark(ctx context.Context, m store.Mark) error {
	for n := 1; ; n++ {
		description, err := l.description(ctx)
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
			_, err := l.maps.update(ctx, description)
			return err
		})
		switch {
		case err == nil:
			return nil
		case !lostRace(err) || n == 3:
			return fmt.Errorf("cannot mark the store %s: %w", l, kubeclient.Wrap("update", l.layoutPath(), err))
		}
	}
}

// Grace returns how long processes that opened the store before a mark may still write.
func (l *layout) Grace() time.Duration { return markGrace }
