package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale is a unit in which a range of values reads well.
type scale struct {
	from   float64
	factor float64
	unit   string
}

func secondScales() []scale {
	return []scale{{600, 1.0 / 60, "min"}, {1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "µs"}, {0, 1e9, "ns"}}
}

func byteScales() []scale {
	return []scale{{1 << 30, 1.0 / (1 << 30), "GiB"}, {1 << 20, 1.0 / (1 << 20), "MiB"},
		{1 << 10, 1.0 / (1 << 10), "KiB"}, {0, 1, "B"}}
}

// scaleFor returns the unit in which the largest of the values reads well.
func scaleFor(unit string, values ...float64) scale {
	largest := 0.0
	for _, value := range values {
		if finite(value) {
			largest = math.Max(largest, math.Abs(value))
		}
	}
	of, per, each := strings.Cut(unit, "/") // "s/request" is scaled as "s"
	if each {
		per = "/" + per
	}
	var scales []scale
	switch of {
	case "s", "seconds":
		scales = secondScales()
	case "bytes", "B":
		scales = byteScales()
	}
	for _, s := range scales {
		if largest >= s.from && largest > 0 {
			return scale{s.from, s.factor, visible(s.unit+per, 40)}
		}
	}
	return scale{0, 1, visible(unit, 40)}
}

func finite(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }

// amount formats a value with its unit: "1.02 s", "183,000 calls/run", "unknown".
func amount(value float64, unit string) string {
	s := scaleFor(unit, value)
	return withUnit(digits(value*s.factor), s.unit)
}

// change formats two values in one unit: "1.02 s → 1.38 s".
func change(a, b float64, unit string) string {
	s := scaleFor(unit, a, b)
	left, right := digits(a*s.factor), digits(b*s.factor)
	if left == right && a != b && finite(a) && finite(b) {
		left, right = precise(a*s.factor), precise(b*s.factor)
	}
	if len(s.unit) <= len("min") {
		left = withUnit(left, s.unit) // a long unit need not stand twice
	}
	return left + " → " + withUnit(right, s.unit)
}

// space stands between a number and its unit; wrap does not break a line there.
const space = "\u00a0"

func withUnit(number, unit string) string {
	if unit == "" {
		return number
	}
	return number + space + strings.ReplaceAll(unit, " ", space)
}

// precise formats a number with more digits than digits does, to tell two that are close.
func precise(value float64) string {
	places := 3 - int(math.Floor(math.Log10(math.Max(math.Abs(value), 1e-9))))
	return strconv.FormatFloat(value, 'f', min(max(places, 0), 12), 64)
}

// digits formats a number with three significant digits and grouped thousands.
func digits(value float64) string {
	size := math.Abs(value)
	switch {
	case !finite(value):
		return "unknown"
	case value < 0:
		return "−" + digits(size)
	case size >= 1e15 || size != 0 && size < 1e-4:
		return strconv.FormatFloat(value, 'g', 3, 64)
	case size >= 1000:
		return grouped(math.Round(value))
	case value == math.Trunc(value):
		return strconv.FormatFloat(value, 'f', 0, 64)
	case size >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case size >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	case size >= 0.1:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
	return strconv.FormatFloat(value, 'g', 2, 64)
}

func grouped(value float64) string {
	text := strconv.FormatFloat(value, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// percent formats a fraction: 0.93 is "93 %", 0.034 "3.4 %".
func percent(fraction float64) string {
	if !finite(fraction) {
		return "unknown"
	}
	value := fraction * 100
	places := 1
	if math.Abs(value) >= 9.95 {
		places = 0
	}
	text := strconv.FormatFloat(math.Abs(value), 'f', places, 64)
	if strings.Trim(text, "0.") == "" {
		return "0" + space + "%"
	}
	if value < 0 {
		text = "−" + text
	}
	return strings.TrimSuffix(text, ".0") + space + "%"
}

// times formats a ratio: 1.346 is "1.35×".
func times(ratio float64) string {
	if !finite(ratio) {
		return "unknown"
	}
	if ratio >= 100 {
		return digits(ratio) + "×"
	}
	if ratio >= 10 {
		return fmt.Sprintf("%.1f×", ratio)
	}
	return fmt.Sprintf("%.2f×", ratio)
}

// plural returns "1 pair", "12 pairs".
func plural(count int, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return grouped(float64(count)) + " " + noun + "s"
}
