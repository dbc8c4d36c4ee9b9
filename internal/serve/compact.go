package serve

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// compressFrom is the length from which a response is compressed.
const compressFrom = 1400

// compact gives responses to reads an ETag, and compresses them.
func compact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		kept := &buffered{header: w.Header(), code: http.StatusOK}
		next.ServeHTTP(kept, r)
		body := kept.body.Bytes()
		if kept.code == http.StatusOK {
			sum := sha256.Sum256(body)
			tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
			w.Header().Set("ETag", tag)
			if strings.Contains(r.Header.Get("If-None-Match"), tag) {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.Header().Add("Vary", "Accept-Encoding")
		if len(body) >= compressFrom && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(kept.code)
			// A client that is gone needs no response.
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
			_, _ = z.Write(body)
			_ = z.Close()
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(kept.code)
		_, _ = w.Write(body)
	})
}

// buffered is a response in memory.
type buffered struct {
	header http.Header
	body   bytes.Buffer
	code   int
}

func (b *buffered) Header() http.Header            { return b.header }
func (b *buffered) Write(data []byte) (int, error) { return b.body.Write(data) }
func (b *buffered) WriteHeader(code int)           { b.code = code }
