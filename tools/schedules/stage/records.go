//go:build unix

package stage

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

const (
	creating = declaration.Creating
	active   = declaration.Active
	deleting = declaration.Deleting
)

var recordKey = store.Key{Kind: store.SpotPools, Name: pool.Region + "/" + pool.Name}

func journalKey(uid string) store.Key {
	return store.Key{Kind: store.Journals, Name: recordKey.Name + "/" + uid}
}

func tombstoneKey(uid string) store.Key { return store.Key{Kind: store.Tombstones, Name: uid} }

// read reads a document of the store; false where it isn't there. One that can't
// be read is broken.
func read[T declaration.Body](w *World, key store.Key) (body T, there bool) {
	s, err := directory.Open(w.storePath(), directory.Options{})
	if err != nil {
		return body, false // no store
	}
	doc, err := s.Read(context.Background(), key)
	if err != nil {
		return body, false
	}
	if body, err = declaration.Decode[T](key.String(), doc.Data); err != nil {
		w.broken("the store can't be read: %v", err)
		return body, false
	}
	return body, true
}

// record is the pool's record.
func (w *World) record() (declaration.SpotPool, bool) {
	return read[declaration.SpotPool](w, recordKey)
}

// journal is that of the recorded pool.
func (w *World) journal() journal.Journal {
	record, _ := w.record()
	j, _ := read[journal.Journal](w, journalKey(record.Declaration.UID))
	return j
}

// termsOf are the terms of a recorded declaration.
func termsOf(d spotpool.Declaration) schedule.Terms {
	return schedule.Terms{
		Minimum: d.Minimum, Maximum: d.Maximum,
		Strategy: string(d.Refresh.Strategy), Surge: d.Refresh.MaxSurge, Unavailable: d.Refresh.MaxUnavailable,
	}
}

// lose removes the journal, or all of the store.
func (w *World) lose(loss schedule.Loss) error {
	if loss == schedule.LostStore {
		w.watch.forget()
		return os.RemoveAll(w.storePath())
	}
	record, there := w.record()
	if !there {
		return nil
	}
	s, err := directory.Open(w.storePath(), directory.Options{})
	if err != nil {
		return err
	}
	doc, err := s.Read(context.Background(), journalKey(record.Declaration.UID))
	if err != nil {
		return nil //nolint:nilerr // there is none to lose
	}
	return s.Delete(context.Background(), doc.Key, doc.Revision)
}

// state is the uid of the pool in Terraform's state; empty where it has none.
func (w *World) state() (uid string) {
	var state struct {
		Resources []struct {
			Type      string `json:"type"`
			Instances []struct {
				Attributes struct {
					UID string `json:"uid"`
				} `json:"attributes"`
			} `json:"instances"`
		} `json:"resources"`
	}
	text, err := os.ReadFile(filepath.Join(w.work(), "terraform.tfstate"))
	if err != nil || json.Unmarshal(text, &state) != nil {
		return ""
	}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			uid = i.Attributes.UID
		}
	}
	return uid
}
