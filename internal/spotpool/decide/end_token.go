package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// notedOn is for how long runs go on trying to delete the Secret of a token that expired.
const notedOn = 24 * time.Hour

// endTokens decides to delete the Secrets of bootstrap tokens that nobody needs any
// more. Without an observation of the cluster nothing is decided: they stay noted. What
// expired long ago and could not be deleted is forgotten, and where the pool has given
// its nodes up, what has expired at all.
func endTokens(v View, t Tally) (_ Tally, r Result) {
	d, seen, now := v.Declaration, v.Observation.Cluster.Seen(), v.clusterNow()
	var left []launches.JoinToken
	for _, m := range v.Journal.Tokens {
		tried := slices.Contains(v.SoFar.TokensEnded, m.ID)
		if forgets(v, m, seen, tried) {
			continue
		}
		left = append(left, m)
		if (d.Nodes != nil || seen) && now.Before(m.ExpiresAt) { // else a cluster that is gone for good would keep the pool
			r.TokensLeft = append(r.TokensLeft, m.ID)
		}
		why := whyEndToken(v, m)
		if why == "" || !seen || tried {
			continue
		}
		r.Decisions = append(r.Decisions, spotpool.Decision{
			Kind: spotpool.KindEndToken, Object: d.Object(), Count: 1, Sequence: m.Sequence, BootstrapTokenID: m.ID, Reasons: []string{why},
		})
	}
	if len(left) < len(v.Journal.Tokens) {
		r.Notes = append(r.Notes, func(j journal.Journal) journal.Journal {
			j.Tokens = left
			return j
		})
	}
	return t, r
}

// forgets says whether a token that expired is not noted any longer: nobody can join by
// it, and its Secret can't be deleted. A launch that may be repeated needs its note, by
// which the Secret is known as its own.
func forgets(v View, m launches.JoinToken, seen, tried bool) bool {
	if _, open := v.Journal.Find(m.Sequence); open && v.Declaration.BootstrapToken != nil {
		return false
	}
	over := v.clusterNow().Sub(m.ExpiresAt)
	if v.Declaration.Nodes == nil && !seen {
		return over >= 0
	}
	return over >= notedOn && (tried || !seen)
}

// whyEndToken says why a token is not needed any more; empty where it may be.
func whyEndToken(v View, m launches.JoinToken) string {
	intent, open := v.Journal.Find(m.Sequence)
	switch {
	case v.Declaration.BootstrapToken == nil:
		return "the pool gives its instances no token any more"
	case open && v.resumes(intent): // and is given a new Secret
		return ""
	case !v.clusterNow().Before(m.ExpiresAt):
		return "it expired at " + wording.Instant(m.ExpiresAt)
	case open:
		return ""
	case len(m.Instances) == 0:
		return fmt.Sprintf("launch %d launched nothing", m.Sequence)
	case slices.ContainsFunc(m.Instances, func(id string) bool { return mayJoin(v.Journal, id) }):
		return ""
	}
	return fmt.Sprintf("%s joined, or ended", wording.Some(m.Instances))
}

// mayJoin reports whether an instance is there that was never seen as a Ready node.
func mayJoin(j journal.Journal, id string) bool {
	k, known := j.Of(id)
	return known && k.Node.JoinedAt.IsZero() && !k.Ended
}
