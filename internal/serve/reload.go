package serve

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// Certificate is a certificate and its key in files. It is read again when they change.
type Certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	checked time.Time
	changed [2]time.Time
	loaded  *tls.Certificate
}

// LoadCertificate reads a certificate and its key.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	_, err := c.get(time.Now())
	return c, err
}

// Config returns the configuration of a server.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.get(time.Now())
		},
		NextProtos: []string{"h2", "http/1.1"},
	}
}

// checkEvery is how often files are checked for a change.
const checkEvery = time.Second

// get returns the certificate. While files are unreadable, or do not fit, it is the last one.
func (c *Certificate) get(now time.Time) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil && now.Sub(c.checked) < checkEvery {
		return c.loaded, nil
	}
	c.checked = now
	changed, err := c.times()
	if err == nil && (c.loaded == nil || changed != c.changed) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.certFile, c.keyFile); err == nil {
			c.loaded, c.changed = &pair, changed
		}
	}
	if c.loaded != nil {
		return c.loaded, nil
	}
	return nil, err
}

func (c *Certificate) times() (times [2]time.Time, err error) {
	for n, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return times, err
		}
		times[n] = info.ModTime()
	}
	return times, nil
}
