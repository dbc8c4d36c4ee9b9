package stage

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// PoolKey names the pool's record.
var PoolKey = store.Key{Kind: store.SpotPools, Name: Pool.Region + "/" + Pool.Name}

func journalKey(uid string) store.Key {
	return store.Key{Kind: store.Journals, Name: PoolKey.Name + "/" + uid}
}

type records struct {
	programs Programs
	log      *log
}

// read reads a document of the store; false if there is none. One that can't be read is
// broken.
func read[T declaration.Body](r records, key store.Key) (body T, there bool) {
	s, err := r.programs.Store()
	if err != nil {
		return body, false // no store
	}
	doc, err := s.Read(context.Background(), key)
	if err != nil {
		return body, false
	}
	if body, err = declaration.Decode[T](key.String(), doc.Data); err != nil {
		r.log.broken("the store cannot be read: %v", err)
		return body, false
	}
	return body, true
}

func (r records) pool() (declaration.SpotPool, bool) {
	return read[declaration.SpotPool](r, PoolKey)
}

func (r records) journal() journal.Journal {
	record, _ := r.pool()
	j, _ := read[journal.Journal](r, journalKey(record.Declaration.UID))
	return j
}

// isLossRecent reports whether the journal was found missing so recently that nothing is
// launched yet. A creation that was killed before it wrote one looks the same.
func (r records) isLossRecent(now time.Time) bool {
	at := r.journal().LostAt
	return !at.IsZero() && now.Sub(at) < spotpool.TagLag
}

// left are the documents of a pool that is gone which should not be there, or not be
// missing: nothing stays but a tombstone.
func (r records) left(uid string) (wrong []string) {
	if _, there := read[declaration.Journal](r, journalKey(uid)); there {
		wrong = append(wrong, "its journal is there")
	}
	if _, there := read[declaration.Tombstone](r, store.Key{Kind: store.Tombstones, Name: uid}); !there {
		wrong = append(wrong, "it has no tombstone")
	}
	return wrong
}

func (r records) loseJournal() error {
	record, there := r.pool()
	if !there {
		return nil
	}
	s, err := r.programs.Store()
	if err != nil {
		return err
	}
	doc, err := s.Read(context.Background(), journalKey(record.Declaration.UID))
	if err != nil {
		return nil //nolint:nilerr // there is none to lose
	}
	return s.Delete(context.Background(), doc.Key, doc.Revision)
}

func termsOf(d spotpool.Declaration) schedule.Terms {
	return schedule.Terms{
		Minimum: d.Minimum, Maximum: d.Maximum,
		Strategy: string(d.Refresh.Strategy), Surge: d.Refresh.MaxSurge, Unavailable: d.Refresh.MaxUnavailable,
	}
}
