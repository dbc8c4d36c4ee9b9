package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// versions are the ends of the addresses of assets: browsers keep them until they change. Other
// commands need none, so they are made on demand.
var versions = sync.OnceValue(func() map[string]string {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // they are embedded
	}
	list := map[string]string{}
	for _, e := range entries {
		data := assetText(e.Name())
		sum := sha256.Sum256([]byte(data))
		list[e.Name()] = hex.EncodeToString(sum[:6])
	}
	return list
})

func assetText(file string) string {
	data, err := assets.ReadFile(path.Join("assets", file))
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// styles are the styles of a page, which are part of it: it is painted without a further request.
func styles(charts bool) []template.CSS {
	of := []template.CSS{template.CSS(assetText("page.css"))} //nolint:gosec // our own
	if charts {
		of = append(of, template.CSS(assetText("uPlot.min.css"))) //nolint:gosec // its hash is tested
	}
	return of
}

// StyleSources are the styles of pages as sources of a content security policy.
func StyleSources() string {
	var sources []string
	for _, style := range styles(true) {
		sum := sha256.Sum256([]byte(style))
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(sources, " ")
}

func asset(w http.ResponseWriter, r *http.Request) {
	file := r.PathValue("file")
	if versions()[file] == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(file)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write([]byte(assetText(file))) // a client that is gone needs no response
}
