package spotpools

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// tokenStep creates or deletes the bootstrap token of a launch.
type tokenStep struct {
	*actor
	d spotpool.Decision
}

// addToken creates the bootstrap token of a launch, if the pool uses tokens, and returns the
// request with the token. The journal records the Secret before it is created, and it exists
// before the launch is recorded or retried. Without a token nothing is launched: ready is
// false then, and the pass notes why.
func (a tokenStep) addToken(ctx context.Context, r spotpool.Request) (filled spotpool.Request, ready bool, err error) {
	how := a.pass.declaration.WithDefaults().BootstrapToken
	if how == nil || a.d.Resume && r.BootstrapToken == "" {
		return r, true, nil
	}
	cluster, err := a.cluster(ctx)
	if err != nil {
		a.noteMissingToken(ctx, err)
		return r, false, nil
	}
	filled, refused, err := a.createAny(ctx, cluster, r, *how)
	switch {
	case errors.Is(refused, outcome.ErrPlanned):
		return r, false, refused
	case err != nil:
		return r, false, err
	case refused != nil:
		a.noteMissingToken(ctx, refused)
		return r, false, nil
	}
	return filled, true, nil
}

// maxTokenIDs is how many IDs a launch tries, if foreign Secrets have them.
const maxTokenIDs = 3

// createAny creates the Secret of a request's token. If it has none yet, it uses the first ID
// that no foreign Secret has. It returns refusals of the cluster apart from errors of the
// store.
func (a tokenStep) createAny(ctx context.Context, cluster Cluster, r spotpool.Request, how spotpool.BootstrapToken) (
	filled spotpool.Request, refused, err error) {
	if r.BootstrapToken != "" {
		refused, err = a.create(ctx, cluster, r, how, true)
		return r, refused, err
	}
	secret, err := a.flow.tokenSecret()
	if err != nil {
		return r, nil, err
	}
	for n := range maxTokenIDs {
		filled = r.Joining(launches.BootstrapTokenID(r.UID, a.journal.Value.Salt, r.Sequence, n), secret)
		if refused, err = a.create(ctx, cluster, filled, how, false); !errors.Is(refused, node.ErrTokenExists) {
			break
		}
	}
	return filled, refused, err
}

// create creates the Secret of a token.
//
// An existing Secret is the pool's own if the journal records it, from a launch that was cut
// short. It stays if the launch is the same and it is valid for long; else it is replaced. One
// that is not recorded is foreign, and stays. create looks for it before it records its own,
// since a run after a kill would take it for the pool's own.
func (a tokenStep) create(ctx context.Context, cluster Cluster, r spotpool.Request, how spotpool.BootstrapToken, again bool) (refused, err error) {
	id, secret := r.TokenParts()
	now := cluster.Now()
	before, noted := a.journal.Value.Tokens.Of(id)
	stays := again && noted && before.Fresh(now, how.TTL)
	t := node.BootstrapToken{ID: id, Secret: secret, Groups: how.Groups, ExpiresAt: before.ExpiresAt, Pool: a.pass.declaration.Key(), PoolUID: r.UID}
	if !stays {
		t.ExpiresAt = now.Add(time.Duration(how.TTL))
		if !noted {
			taken, err := cluster.TokenTaken(ctx, t)
			if err == nil && taken {
				err = tokenTaken(node.ErrTokenExists)
			}
			if err != nil {
				return err, nil
			}
		}
		if err := a.saveTokens(ctx, a.journal.Value.Tokens.With(launches.JoinToken{ID: id, Sequence: r.Sequence, ExpiresAt: t.ExpiresAt})); err != nil {
			return nil, err
		}
	}
	calling, done := record.WithGrace(ctx)
	defer done()
	refused = cluster.CreateToken(calling, t)
	switch {
	case !errors.Is(refused, node.ErrTokenExists):
		return refused, nil
	case stays:
		return nil, nil
	case !noted:
		return tokenTaken(refused), a.saveTokens(calling, a.journal.Value.Tokens.Without(id))
	}
	if err := cluster.DeleteToken(calling, id); err != nil {
		return err, nil
	}
	return cluster.CreateToken(calling, t), nil
}

// tokenTaken says that the Secret of a token's ID is foreign.
func tokenTaken(err error) error {
	return fmt.Errorf("%w, which this pool did not create and does not change: delete that Secret if it is not needed", err)
}

// noteMissingToken notes that a launch is not requested, since its instances could not join.
func (a tokenStep) noteMissingToken(ctx context.Context, err error) {
	if a.d.Resume {
		a.pass.uncertain = true
		err = fmt.Errorf("the outcome of launch %d is unknown, and it is retried once its instances can get a valid bootstrap token: %w",
			a.d.Sequence, err)
	} else {
		err = fmt.Errorf("create the bootstrap token of launch %d, without which its instances could not join: %w. Make the cluster reachable with the "+
			"permissions that gpupool manifests --bootstrap-groups prints, or remove bootstrap_token and its placeholder", a.d.Sequence, err)
	}
	a.halt(ctx, a.d, err)
}

// delete deletes the Secret of a token that is no longer needed, and forgets it.
func (a tokenStep) delete(ctx context.Context) error {
	a.pass.soFar.TokensEnded = append(a.pass.soFar.TokensEnded, a.d.BootstrapTokenID)
	calling, done := record.WithGrace(ctx)
	defer done()
	cluster, err := a.cluster(ctx)
	if err == nil {
		err = cluster.DeleteToken(calling, a.d.BootstrapTokenID)
	}
	switch {
	case errors.Is(err, outcome.ErrPlanned):
		return err
	case err != nil:
		a.noteNotDeleted(ctx, err)
		return nil
	}
	a.note(ctx, a.d, outcome.Done, nil)
	j := a.journal.Value
	j.Tokens = j.Tokens.Without(a.d.BootstrapTokenID)
	return a.record(ctx, j)
}

// noteNotDeleted notes that a token could not be deleted. It expires, and the next run retries.
// So it is a warning, unless a destroy leaves a valid token.
func (a tokenStep) noteNotDeleted(ctx context.Context, err error) {
	valid := slices.Contains(a.pass.latest.plan.TokensLeft, a.d.BootstrapTokenID)
	if a.pass.destroys && valid {
		a.fail(ctx, a.d, fmt.Errorf("bootstrap token %s may stay valid until it expires: %w", a.d.BootstrapTokenID, err))
		return
	}
	a.pass.warnings = a.pass.warnings.With(reason.TokenKept(reason.Word(a.d.BootstrapTokenID), reason.Count(a.d.Sequence), reason.Failure(err)))
	a.noteFailure(ctx, a.d, err)
}

// tokenSecret returns the secret part of a new token.
func (p *Ports) tokenSecret() (string, error) {
	const all = spotpool.TokenCharacters
	random := cmp.Or[io.Reader](p.Random, rand.Reader)
	secret, drawn := make([]byte, 0, spotpool.TokenSecretLength), make([]byte, spotpool.TokenSecretLength)
	for len(secret) < cap(secret) {
		if _, err := io.ReadFull(random, drawn); err != nil {
			return "", fmt.Errorf("generate the secret of a bootstrap token: %w", err)
		}
		// Bytes above the last whole multiple would make some characters more likely.
		drawn := slices.DeleteFunc(slices.Clone(drawn), func(b byte) bool { return int(b) >= 256/len(all)*len(all) })
		for _, b := range drawn[:min(len(drawn), cap(secret)-len(secret))] {
			secret = append(secret, all[int(b)%len(all)])
		}
	}
	return string(secret), nil
}
