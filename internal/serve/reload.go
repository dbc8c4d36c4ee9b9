package serve

import (
	"context"
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// reloaded is a value of files, which is read again when they change.
type reloaded[T any] struct {
	files []string
	read  func() (T, error)
	warn  func(error)

	mu      sync.Mutex
	checked time.Time
	stamps  []os.FileInfo // of the files that were read last
	failed  string        // the last warning
	value   T
}

func reload[T any](read func() (T, error), warn func(error), files ...string) (*reloaded[T], error) {
	r := &reloaded[T]{files: files, read: read, warn: warn, checked: time.Now()}
	r.stamps, _ = r.now() // read reports an absent file
	var err error
	r.value, err = read()
	return r, err
}

// checkEvery is how often files are checked for a change.
const checkEvery = time.Second

// get returns the value. While files are unreadable or invalid, it is the last one.
func (r *reloaded[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.checked) < checkEvery {
		return r.value
	}
	r.checked = time.Now()
	stamps, err := r.now()
	if err == nil && same(stamps, r.stamps) {
		return r.value
	}
	var value T
	if err == nil {
		value, err = r.read()
	}
	if err != nil { // it is read again, until that succeeds
		if err.Error() != r.failed {
			r.warn(err)
		}
		r.failed = err.Error()
		return r.value
	}
	r.stamps, r.failed, r.value = stamps, "", value
	return value
}

func (r *reloaded[T]) now() (stamps []os.FileInfo, err error) {
	for _, name := range r.files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		stamps = append(stamps, info)
	}
	return stamps, nil
}

func same(a, b []os.FileInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for n := range a {
		if !os.SameFile(a[n], b[n]) || !a[n].ModTime().Equal(b[n].ModTime()) || a[n].Size() != b[n].Size() {
			return false
		}
	}
	return true
}

// Certificate returns the TLS configuration of a certificate and its key in files. They are read again
// when they change; warn reports new ones that are invalid.
func Certificate(certFile, keyFile string, warn func(error)) (*tls.Config, error) {
	pair, err := reload(func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		return &pair, err
	}, warn, certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil },
		NextProtos:     []string{"h2", "http/1.1"},
	}, nil
}

// Tokens authenticates by a file of tokens. It is read again when it changes; warn reports a new one
// that is invalid.
func Tokens(file string, warn func(error)) (access.Authenticator, error) {
	tokens, err := reload(func() (access.Tokens, error) {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return access.ParseTokens(data)
	}, warn, file)
	return users{tokens}, err
}

// users are those of a file.
type users struct{ *reloaded[access.Tokens] }

// Authenticate returns the user of a token.
func (u users) Authenticate(ctx context.Context, token string) (*access.User, error) {
	return u.get().Authenticate(ctx, token)
}
