// Plot draws the curves of docs/internals/hundred-days.md. It reads CSV with a line of names from
// stdin, sorts each column, and writes an SVG with a curve for each to stdout.
package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"io"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// colors are told apart by people who see no red or green, and in print by their dashes.
var (
	colors = []color.Color{color.RGBA{0, 114, 178, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{204, 51, 17, 255}}
	dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)}}
)

func main() {
	title, x, y := flag.String("title", "", "of the plot"), flag.String("x", "", "what goes to the right"), flag.String("y", "", "what goes up")
	flag.Parse()
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = *title, *x, *y
	err := draw(p, os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

func draw(p *plot.Plot, in io.Reader, out io.Writer) error {
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return err
	}
	if len(rows) < 2 || len(rows[0]) > len(colors) {
		return errors.New("a line of at most three names is needed, and a line of numbers")
	}
	for column, name := range rows[0] {
		line, err := curve(rows[1:], column)
		if err != nil {
			return err
		}
		line.Color, line.Dashes, line.Width = colors[column], dashes[column], vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(name, line)
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	picture, err := p.WriterTo(16*vg.Centimeter, 9*vg.Centimeter, "svg")
	if err == nil {
		_, err = picture.WriteTo(out)
	}
	return err
}

// curve is a column from its least number to its greatest.
func curve(rows [][]string, column int) (*plotter.Line, error) {
	points := make(plotter.XYs, len(rows))
	for n, row := range rows {
		number, err := strconv.ParseFloat(row[column], 64)
		if err != nil {
			return nil, err
		}
		points[n].Y = number
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.Y, b.Y) })
	for n := range points {
		points[n].X = float64(n + 1)
	}
	return plotter.NewLine(points)
}
