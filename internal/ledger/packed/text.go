package packed

import "strings"

// Texts keeps many short strings side by side.
type Texts struct{ pages []*strings.Builder }

// textPage is how many bytes a page takes; a text is shorter.
const textPage = 1 << 16

// Text is where a text begins, and how long it is.
type Text struct {
	At     uint32
	Length uint8
}

// Add keeps a text.
func (t *Texts) Add(s string) Text {
	page, at := t.room(len(s))
	page.WriteString(s)
	return Text{At: at, Length: uint8(len(s))}
}

// AddBytes keeps a text.
func (t *Texts) AddBytes(b []byte) Text {
	page, at := t.room(len(b))
	page.Write(b)
	return Text{At: at, Length: uint8(len(b))}
}

// room is the page that takes so many bytes more, and where they will be.
func (t *Texts) room(length int) (page *strings.Builder, at uint32) {
	last := len(t.pages) - 1
	if last < 0 || t.pages[last].Len()+length > textPage {
		page = new(strings.Builder)
		page.Grow(textPage)
		t.pages = append(t.pages, page)
		last++
	}
	page = t.pages[last]
	return page, uint32(last)*textPage + uint32(page.Len())
}

// Get returns a text that was added.
func (t *Texts) Get(x Text) string {
	at := x.At % textPage
	return t.pages[x.At/textPage].String()[at : at+uint32(x.Length)]
}
