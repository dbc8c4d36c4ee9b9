package cli_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
)

// hostile responds with the address and the secrets of each request, in every way.
type hostile struct {
	*httptest.Server
	foreign atomic.Int64 // requests that followed a redirect
	other   *httptest.Server
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	h := &hostile{}
	h.other = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { h.foreign.Add(1) }))
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.other.Close)
	t.Cleanup(h.Close)
	return h
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	echo := evil + " " + r.URL.String() + " " + r.Header.Get("Authorization") + " " + r.Header.Get("webhook-signature")
	switch way, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); way {
	case "redirect":
		http.Redirect(w, r, h.other.URL+"/"+notifytest.Key, http.StatusTemporaryRedirect)
	case "garbage":
		fmt.Fprint(w, echo)
	case "code":
		fmt.Fprintf(w, `{"errcode": 45009, "errmsg": %q}`, echo)
	case "slow":
		for n := 0; n < 64 && r.Context().Err() == nil; n++ { // megabytes
			fmt.Fprint(w, strings.Repeat(echo, 1000))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	default:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, echo)
	}
}

// declareHostile declares notifications whose receivers are broken.
func (w *world) declareHostile(t *testing.T, h *hostile) (secrets []string) {
	t.Helper()
	const secret = "a-secret-that-a-receiver-repeats"
	for name, d := range map[string]notification.Declaration{
		"redirect":  {Type: notification.Webhook, URL: h.URL + "/redirect/" + notifytest.Key},
		"garbage":   {Type: notification.WeCom, URL: h.URL + "/garbage?key=" + notifytest.Key},
		"same":      {Type: notification.WeCom, URL: h.URL + "/garbage?key=" + notifytest.Key},
		"code":      {Type: notification.WeCom, URL: h.URL + "/code?key=" + notifytest.Key},
		"slow":      {Type: notification.Alertmanager, URL: h.URL + "/slow/" + notifytest.Key, Secret: secret},
		"broken":    {Type: notification.Slack, URL: h.URL + "/broken/" + notifytest.Key},
		"no-host":   {Type: notification.Feishu, URL: "https://" + notifytest.Key + ".invalid/hook/" + notifytest.Key, Secret: secret},
		"no-server": {Type: notification.DingTalk, URL: "http://127.0.0.1:1/robot/send?access_token=" + notifytest.Key, Secret: secret},
	} {
		d.Name, d.URLVersion = name, 1
		if d.Secret != "" {
			d.SecretVersion = 1
		}
		d.Events = []history.Kind{history.Lost, history.Launch, history.Hold, history.Failed}
		if _, err := w.process().Notifications().Create(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"/" + notifytest.Key, "=" + notifytest.Key, secret}
}

// TestBrokenReceiversRevealNothing sends to receivers that repeat secrets, redirect, block and respond with control characters. No
// output and no document but the declarations has an address or a secret, and no run fails.
func TestBrokenReceiversRevealNothing(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t, t.TempDir()), newHostile(t)
	secrets := w.declareHostile(t, h)
	w.create("train", 1, 2)
	w.reclaim("train")
	began := time.Now()
	for n, args := range [][]string{
		{"reconcile", "-vv"},
		{"reconcile", "-o", "json", "-vv", "--log-format", "json"},
		{"status"}, {"status", "-o", "json"}, {"notify"}, {"notify", "-o", "json"}, {"history", "-o", "json"}, {"history", "-o", "wide"},
		{"notify", "--test", "redirect"}, {"notify", "--test", "garbage"}, {"notify", "--test", "code"}, {"notify", "--test", "slow"},
		{"notify", "--test", "broken"}, {"notify", "--test", "no-host", "-vv"}, {"notify", "--test", "no-server", "-o", "json"},
	} {
		p := w.start(args...)
		if code := p.exitCode(t); code != 0 && args[0] != "notify" {
			t.Errorf("%q ends with exit code %d: %s", args, code, p.stderr())
		}
		if took := time.Since(began); n == 0 && took > 25*time.Second {
			t.Errorf("a run with broken receivers took %v", took)
		}
		if said := p.stdout() + p.stderr(); strings.ContainsAny(said, "\x1b\x07\u009b") {
			t.Errorf("%q prints control characters: %q", args, said)
		}
	}
	w.findSecrets(t, secrets)
	if h.foreign.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// findSecrets searches secrets in the outputs of all processes, and in documents of the store that are not declarations of notifications.
func (w *world) findSecrets(t *testing.T, secrets []string) {
	t.Helper()
	find := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "notifications" {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range secrets {
			if at := strings.Index(string(data), secret); at >= 0 {
				t.Errorf("%s contains an address or a secret of a notification: %s", path, data[max(0, at-200):at+len(secret)])
			}
		}
		return err
	}
	for _, dir := range slices.Concat(w.streams, []string{filepath.Join(w.dir, ".gpupool")}) {
		if err := filepath.WalkDir(dir, find); err != nil {
			t.Error(err)
		}
	}
}
