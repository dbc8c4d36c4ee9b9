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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// mint gives a launch the token by which its instances join, where the pool has some, and
// returns its request with that filled in. The journal knows of the Secret before it is
// made, and the Secret is there before the launch is written down, or asked for again. A
// launch without a token is no launch: minted is false then, and why is noted in the
// pass.
func (a *actor) mint(ctx context.Context, d spotpool.Decision, r spotpool.Request) (filled spotpool.Request, minted bool, err error) {
	how := a.pass.declaration.WithDefaults().BootstrapToken
	if how == nil || d.Resume && r.BootstrapToken == "" {
		return r, true, nil
	}
	cluster, err := a.flow.clusterOf(ctx, a.pass.declaration)
	if err != nil {
		a.notMinted(ctx, d, err)
		return r, false, nil
	}
	if r.BootstrapToken == "" {
		secret, err := a.flow.tokenSecret()
		if err != nil {
			return r, false, err
		}
		r = r.Joining(spotpool.BootstrapTokenID(r.UID, a.journal.Value.Salt, r.Sequence), secret)
	}
	id, secret := r.TokenParts()
	lasts := time.Duration(how.TTL)
	if err := a.remember(ctx, a.journal.Value.Mints(spotpool.Minted{ID: id, Sequence: r.Sequence, ExpiresAt: a.observation.At.Add(lasts)})); err != nil {
		return r, false, err
	}
	calling, done := record.Outliving(ctx)
	defer done()
	err = makeToken(calling, cluster, node.BootstrapToken{
		ID: id, Secret: secret, Groups: how.Groups, Lasts: lasts, Pool: a.pass.declaration.Key(), PoolUID: r.UID,
	})
	switch {
	case errors.Is(err, outcome.ErrPlanned):
		return r, false, err
	case err != nil:
		a.notMinted(ctx, d, err)
		return r, false, nil
	}
	return r, true, nil
}

// makeToken makes the Secret of a token. One that is there is of a launch that was cut
// short, and may not be valid for long: another takes its place.
func makeToken(ctx context.Context, cluster Cluster, t node.BootstrapToken) error {
	err := cluster.CreateToken(ctx, t)
	if !errors.Is(err, node.ErrTokenExists) {
		return err
	}
	if err := cluster.DeleteToken(ctx, t.ID); err != nil {
		return err
	}
	return cluster.CreateToken(ctx, t)
}

// notMinted notes that a launch is not asked for, as its instances could not join.
func (a *actor) notMinted(ctx context.Context, d spotpool.Decision, err error) {
	if d.Resume {
		a.pass.uncertain = true
		err = fmt.Errorf("the outcome of launch %d is unknown, and it is asked for again once its instances can be given a valid bootstrap token: %w", d.Sequence, err)
	} else {
		err = fmt.Errorf("nothing is launched that could not join: the bootstrap token of launch %d could not be made: %w. Have the cluster be reachable, with the rights that gpupool manifests --bootstrap-groups prints, or take bootstrap_token and its placeholder out", d.Sequence, err)
	}
	a.halt(ctx, d, err)
}

// endToken deletes the Secret of a token that nobody needs any more, and forgets it.
func (a *actor) endToken(ctx context.Context, d spotpool.Decision) error {
	cluster, err := a.flow.clusterOf(ctx, a.pass.declaration)
	if err != nil {
		return err
	}
	a.pass.soFar.TokensEnded = append(a.pass.soFar.TokensEnded, d.BootstrapTokenID)
	calling, done := record.Outliving(ctx)
	defer done()
	err = cluster.DeleteToken(calling, d.BootstrapTokenID)
	switch {
	case errors.Is(err, outcome.ErrPlanned):
		return err
	case err != nil:
		a.fail(ctx, d, fmt.Errorf("the bootstrap token %s may be valid for as long as it was made for: %w", d.BootstrapTokenID, err))
		return nil
	}
	a.note(ctx, d, outcome.Done, nil)
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	return a.remember(recording, a.journal.Value.TokenEnded(d.BootstrapTokenID))
}

// tokenSecret is the secret part of a new token.
func (f *Flow) tokenSecret() (string, error) {
	const all = spotpool.TokenCharacters
	random := cmp.Or[io.Reader](f.Random, rand.Reader)
	secret, drawn := make([]byte, 0, spotpool.TokenSecretLength), make([]byte, spotpool.TokenSecretLength)
	for len(secret) < cap(secret) {
		if _, err := io.ReadFull(random, drawn); err != nil {
			return "", fmt.Errorf("drawing the secret of a bootstrap token: %w", err)
		}
		// Bytes beyond the last whole multiple would make some characters likelier.
		drawn := slices.DeleteFunc(slices.Clone(drawn), func(b byte) bool { return int(b) >= 256/len(all)*len(all) })
		for _, b := range drawn[:min(len(drawn), cap(secret)-len(secret))] {
			secret = append(secret, all[int(b)%len(all)])
		}
	}
	return string(secret), nil
}
