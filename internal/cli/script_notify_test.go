package cli_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
)

// scriptReceiver is the receiver of a script's notification.
type scriptReceiver struct {
	*notifytest.Server

	mu    sync.Mutex
	fault notifytest.Fault
}

type receiverKey string

func receiverOf(ts *testscript.TestScript, name string) *scriptReceiver {
	return ts.Value(receiverKey(name)).(*scriptReceiver)
}

// notification NAME TYPE starts a receiver, and declares a notification of reclaims and launches of the pool train.
func cmdNotification(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: notification NAME TYPE")
	}
	w := worldOf(ts)
	r := ts.Value(receiversKey{}).(func(name string, kind notification.Type) *scriptReceiver)(args[0], notification.Type(args[1]))
	_, err := w.process().Notifications().Create(context.Background(), notification.Declaration{
		Name: args[0], Type: r.Type, URL: r.URL, URLVersion: 1,
		Events: []history.Kind{history.Reclaim, history.Lost, history.Launch}, Objects: []string{"spot_pool/*/train"},
	})
	ts.Check(err)
}

type receiversKey struct{}

// startReceivers lets the commands of a script start receivers, which end with it.
func startReceivers(env *testscript.Env) {
	env.Values[receiversKey{}] = func(name string, kind notification.Type) *scriptReceiver {
		r := &scriptReceiver{Server: notifytest.New(env.T().(testing.TB), kind)}
		r.NextFault = func() notifytest.Fault {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.fault
		}
		env.Values[receiverKey(name)] = r
		return r
	}
}

// responds NAME [STATUS BODY] sets the response of a receiver to each request. Without a status, it is the usual one.
func cmdResponds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: responds NAME [STATUS BODY]")
	}
	var fault notifytest.Fault
	if len(args) == 3 {
		status, err := strconv.Atoi(args[1])
		ts.Check(err)
		fault = notifytest.Fault{Status: status, Body: args[2]}
	}
	r := receiverOf(ts, args[0])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

// received NAME prints what arrived.
func cmdReceived(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: received NAME")
	}
	for _, a := range receiverOf(ts, args[0]).Arrivals() {
		_, err := fmt.Fprintln(ts.Stdout(), a.Text)
		ts.Check(err)
	}
}
