package connection

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StoreKey is the key, in a resource's private state, of the store that last had its
// record.
const StoreKey = record.StoreKey

// PrivateReader is the part of the framework's private state that reads it.
type PrivateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// PrivateWriter is the part of the framework's private state that writes it.
type PrivateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func (c *Connection) thisStore(ctx context.Context) record.RememberedStore {
	s := record.RememberedStore{Store: c.settings.Store.Absolute().String()}
	if c.settings.Store.Backend == store.Kubernetes {
		s.Cluster, _ = c.ClusterUID(ctx)
	}
	return s
}

// StoreMemory is the value of StoreKey of an object that the store in use has a record of.
func (c *Connection) StoreMemory(ctx context.Context) []byte {
	data, err := json.Marshal(c.thisStore(ctx))
	if err != nil {
		return []byte("null")
	}
	return data
}

// RememberStore writes to an object's private state that the store in use has its
// record. If it has none, what was remembered stays.
func (c *Connection) RememberStore(ctx context.Context, private PrivateWriter, recorded bool) diag.Diagnostics {
	if !recorded {
		return nil
	}
	return private.SetKey(ctx, StoreKey, c.StoreMemory(ctx))
}

// otherStore describes the store that a private state remembers: its location, or its
// cluster if only that differs. Both are empty if it is the one in use, or unknown.
func (c *Connection) otherStore(ctx context.Context, private PrivateReader) (location, cluster string) {
	raw, _ := private.GetKey(ctx, StoreKey)
	var was record.RememberedStore
	if json.Unmarshal(raw, &was) != nil || was.Store == "" {
		return "", ""
	}
	now := c.thisStore(ctx)
	switch {
	case was.Same(now):
		return "", ""
	case was.Store != now.Store:
		return was.Store, ""
	}
	return was.Store, was.Cluster
}

// ErrLost reports that the store in use has nothing about an object, and names the store that
// its private state remembers.
func (c *Connection) ErrLost(ctx context.Context, private PrivateReader, object record.LostError) *record.LostError {
	object.Store = c.settings.Store.Absolute().String()
	object.Other, object.Cluster = c.otherStore(ctx, private)
	return &object
}

// CheckStore reports whether an object may be used, and adds an error if not. An object is
// refused if its private state remembers another store, and the one in use has nothing about
// it: two stores would have it. An object without a remembered store passes. known reports
// whether the store in use has a record or a tombstone.
func (c *Connection) CheckStore(ctx context.Context, doing reason.Reason, private PrivateReader, object record.LostError, diags *diag.Diagnostics,
	known func() (bool, error)) bool {
	if !c.StoreReady() {
		return true
	}
	lost := c.ErrLost(ctx, private, object)
	if lost.Other == "" {
		return true
	}
	here, err := known()
	if err == nil && !here {
		err = lost
	}
	if err != nil {
		diags.Append(Error(doing, err))
	}
	return err == nil
}

// StoreName names the store in use.
func (c *Connection) StoreName() reason.Word {
	return reason.Word(c.settings.Store.Absolute().String())
}
