package page

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

//go:embed templates
var files embed.FS

// templates are the pages, by name. Each has the layout. They are parsed on demand.
var templates = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	list := map[string]*template.Template{}
	for _, name := range []string{"overview", "object", "decisions", "history", "team", "teams", "login", "error", "report"} {
		list[name] = template.Must(template.Must(layout.Clone()).ParseFS(fs.FS(files), "templates/"+name+".html"))
	}
	list["report"].Funcs(template.FuncMap{"link": rowLink})
	return list
})

var functions = template.FuncMap{
	"asset":   func(file string) string { return "/assets/" + file + "?v=" + versions()[file] },
	"styles":  styles,
	"time":    timeElement,
	"rank":    func(s state.State) string { return s.Rank().String() },
	"link":    linkOf,
	"who":     subjects,
	"texts":   texts,
	"reasons": func(all []string) template.HTML { return texts(all...) },
	"some":    some,
	"team":    func(namespace string) string { return link("teams", namespace) },
	"words":   func(of any) string { return strings.ReplaceAll(fmt.Sprint(of), "_", " ") },
}

// timeElement is a time in UTC. A script writes it in the time zone of the reader.
func timeElement(at time.Time) template.HTML {
	if at.IsZero() {
		return "-"
	}
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, at.Format(time.RFC3339), at.Format("2006-01-02 15:04 UTC"))) //nolint:gosec // digits
}

// texts joins texts. Times in them are elements, which a script writes in the time zone of the reader.
func texts(all ...string) template.HTML {
	escaped := template.HTMLEscapeString(strings.Join(all, "; "))
	return template.HTML(wording.Instants(escaped, func(at time.Time) string { return string(timeElement(at)) })) //nolint:gosec // escaped
}

// linkOf is the page of an object; empty for what has none.
func linkOf(object string) string {
	parts := strings.Split(object, "/")
	switch {
	case parts[0] == "budget" && len(parts) == 2:
		return link("budgets", parts[1])
	case parts[0] == "spot_pool" && len(parts) == 3:
		return link("spotpools", parts[1], parts[2])
	case parts[0] == "stock_pool" && len(parts) == 3:
		return link("stockpools", parts[1], parts[2])
	}
	return ""
}

// namedAtMost is the most pods or instances of an event that are named.
const namedAtMost = 5

// subjects are what an event is about: workloads, pods, instances and a node.
func subjects(e history.Event) string {
	names := e.Subjects()
	if e.Node != "" {
		names = append(names, "node "+e.Node)
	}
	return some(names)
}

// some lists a few of many names.
func some(names []string) string {
	if more := len(names) - namedAtMost; more > 0 {
		names = append(names[:namedAtMost:namedAtMost], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
