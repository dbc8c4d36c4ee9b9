package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// retryTokenFor is how long runs retry to delete the Secret of an expired token.
const retryTokenFor = 24 * time.Hour

// deleteTokens deletes the Secrets of bootstrap tokens that are no longer needed. Without an
// observation of the cluster it decides nothing, and they stay in the journal. It forgets a
// token that expired long ago and could not be deleted; if the pool no longer has nodes, any
// expired token.
func deleteTokens(v View, t Tally) (_ Tally, r Result) {
	d, seen, now := v.Declaration, v.Observation.Cluster.Observed(), v.clusterNow()
	var left []launches.JoinToken
	for _, m := range v.Journal.Tokens {
		tried := slices.Contains(v.SoFar.TokensEnded, m.ID)
		if dropsToken(v, m, seen, tried) {
			continue
		}
		left = append(left, m)
		if (d.Nodes != nil || seen) && now.Before(m.ExpiresAt) { // else a cluster that is gone for good would block the destroy
			r.TokensLeft = append(r.TokensLeft, m.ID)
		}
		why := deletionReason(v, m)
		if why.IsZero() || !seen || tried {
			continue
		}
		r.Decisions = append(r.Decisions, spotpool.Decision{
			Kind: spotpool.KindEndToken, Object: d.Object(), Count: 1, Sequence: m.Sequence, BootstrapTokenID: m.ID, Reasons: reason.Reasons{why},
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

// dropsToken reports whether an expired token leaves the journal, though its Secret could not
// be deleted. The token of a launch that may be retried stays: the journal shows that its
// Secret is the pool's own.
func dropsToken(v View, m launches.JoinToken, seen, tried bool) bool {
	if _, open := v.Journal.Find(m.Sequence); open && v.Declaration.BootstrapToken != nil {
		return false
	}
	over := v.clusterNow().Sub(m.ExpiresAt)
	if v.Declaration.Nodes == nil && !seen {
		return over >= 0
	}
	return over >= retryTokenFor && (tried || !seen)
}

// deletionReason says why a token is no longer needed; zero if it may be.
func deletionReason(v View, m launches.JoinToken) (why reason.Reason) {
	intent, open := v.Journal.Find(m.Sequence)
	switch {
	case v.Declaration.BootstrapToken == nil:
		return reason.TokensUnused()
	case open && v.retries(intent): // and is given a new Secret
		return why
	case !v.clusterNow().Before(m.ExpiresAt):
		return reason.TokenExpired(reason.Instant{Time: m.ExpiresAt})
	case open:
		return why
	case len(m.Instances) == 0:
		return reason.LaunchedNothing(reason.Count(m.Sequence))
	case slices.ContainsFunc(m.Instances, func(id string) bool { return mayJoin(v.Journal, id) }):
		return why
	}
	return reason.JoinedOrTerminated(m.Instances)
}

// mayJoin reports whether an instance exists that was never a Ready node.
func mayJoin(j journal.Journal, id string) bool {
	k, known := j.Of(id)
	return known && k.Node.JoinedAt.IsZero() && !k.Ended
}
