package knob

import "strings"

const clockSourceFolder = "/sys/devices/system/clocksource/clocksource0/"

// ClockSource is the knob "clocksource" of the machine below root: what every
// reading of the time goes to.
//
// Setting one also makes it the kernel's preferred one until the next boot; that
// preference cannot be read and is not undone. The kernel accepts the name of an
// unknown source silently and keeps the old one, so reading back is what tells.
func ClockSource(root string) Knob {
	target := Target{Root: root}.rooted()
	knob := fileKnob("clocksource", target, clockSourceFolder+"current_clocksource",
		About{Text: "the clock that time reads go to"})
	knob.offers = func() ([]string, error) {
		text, err := readSetting(Place{Root: target.Root, Path: clockSourceFolder + "available_clocksource"})
		return strings.Fields(text), err
	}
	return knob
}

func findClockSource(name string, target Target) (Knob, bool, error) {
	return ClockSource(target.Root), name == "clocksource", nil
}
