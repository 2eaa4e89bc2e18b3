package knob

import "strings"

// clockSource is the kernel's clock source: what every reading of the time goes to.
//
// Setting one also makes it the kernel's preferred one until the next boot; that
// preference cannot be read and is not undone. The kernel accepts the name of an
// unknown source silently and keeps the old one, so reading back is what tells.
type clockSource struct{ root string }

// ClockSource is the knob "clocksource" of the machine below root.
func ClockSource(root string) Knob { return clockSource{root} }

const clockSourceFolder = "/sys/devices/system/clocksource/clocksource0/"

func (clockSource) Name() string { return "clocksource" }

func (clock clockSource) Place() Place {
	return Place{Root: clock.root, Path: clockSourceFolder + "current_clocksource"}
}

func (clock clockSource) Current() (string, error) { return readSetting(clock.Place()) }

func (clock clockSource) Allowed() ([]string, error) {
	text, err := readSetting(Place{Root: clock.root, Path: clockSourceFolder + "available_clocksource"})
	if err != nil {
		return nil, err
	}
	return strings.Fields(text), nil
}

func (clock clockSource) Set(value string) error {
	if err := allowed(clock, value); err != nil {
		return err
	}
	return writeSetting(clock.Place(), value)
}
