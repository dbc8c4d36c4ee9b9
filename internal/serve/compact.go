package serve

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
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
		body := kept.shared
		if body == nil {
			body = api.NewBody(kept.body.Bytes())
		}
		if kept.code == http.StatusOK {
			w.Header().Set("ETag", body.Tag())
			if strings.Contains(r.Header.Get("If-None-Match"), body.Tag()) {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.Header().Add("Vary", "Accept-Encoding")
		data := body.JSON
		if len(data) >= compressFrom && acceptsGzip(r.Header.Get("Accept-Encoding")) {
			w.Header().Set("Content-Encoding", "gzip")
			data = body.Gzip()
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(kept.code)
		_, _ = w.Write(data) // a client that is gone needs no response
	})
}

// acceptsGzip reports whether a client accepts gzip. A weight of 0 refuses it.
func acceptsGzip(codings string) bool {
	for part := range strings.SplitSeq(codings, ",") {
		coding, weight, weighted := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="), 64)
		return !weighted || err == nil && q > 0
	}
	return false
}

// buffered is a response in memory.
type buffered struct {
	header http.Header
	body   bytes.Buffer
	shared *api.Body // instead of body
	code   int
}

func (b *buffered) Header() http.Header            { return b.header }
func (b *buffered) Write(data []byte) (int, error) { return b.body.Write(data) }
func (b *buffered) WriteHeader(code int)           { b.code = code }
func (b *buffered) WriteBody(shared *api.Body)     { b.shared = shared }
