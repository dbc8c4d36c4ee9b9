package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
)

// Template is a set of launch parameters, in numbered versions.
type Template struct {
	ID, Region, Name string
	CreatedAt        time.Time
	Default, Latest  uint64
	Versions         []TemplateVersion // by number
}

// TemplateVersion is one set of parameters.
type TemplateVersion struct {
	Number      uint64
	Description string
	CreatedAt   time.Time
	Params      launch.Params
}

func (t *Template) key() string { return "template/" + t.ID }

// Template returns a template, or nil.
func (w *World) Template(id string) *Template { return w.templates[id] }

// TemplatesIn lists the templates of a region, oldest first.
func (w *World) TemplatesIn(region string) []*Template {
	var found []*Template
	for _, t := range w.templates {
		if t.Region == region {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *Template) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// AddTemplate puts a new template into the world, and gives it its id.
func (w *World) AddTemplate(t *Template) {
	w.ordinal++
	t.ID = identifier("lt", w.ordinal)
	w.templates[t.ID] = t
	w.touch(worldKey)
	w.Changed(t)
}

// RemoveTemplate deletes a template with all its versions.
func (w *World) RemoveTemplate(t *Template) {
	delete(w.templates, t.ID)
	w.Changed(t)
}
