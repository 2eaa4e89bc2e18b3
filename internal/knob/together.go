package knob

import (
	"errors"
	"fmt"
	"strings"
)

const (
	togetherSign = "+"
	togetherMost = 8
)

// findTogether makes one knob of several sysctls that only mean something together, as the age and
// the interval of the flusher do: their names joined by +, their values alike:
// vm.dirty_expire_centisecs+vm.dirty_writeback_centisecs with 80+80. Twins are refused: writing one
// moves the other.
func findTogether(name string, target Target) (Knob, bool, error) {
	names := strings.Split(name, togetherSign)
	if len(names) < 2 {
		return Knob{}, false, nil
	}
	if len(names) > togetherMost {
		return Knob{}, true, fmt.Errorf("more than %d settings together", togetherMost)
	}
	var members []Knob
	for _, each := range names {
		if isTwin(each) {
			return Knob{}, true, fmt.Errorf("%s has a twin and cannot be set together with others", each)
		}
		member, ours, err := findSysctl(each, target)
		if err == nil && !ours {
			err = fmt.Errorf("%q: %w: only sysctls are set together", each, ErrUnknown)
		}
		if err != nil {
			return Knob{}, true, err
		}
		members = append(members, member)
	}
	return together(name, target, members), true, nil
}

func isTwin(name string) bool {
	for bytes, ratio := range sysctlTwins {
		if name == bytes || name == ratio {
			return true
		}
	}
	return false
}

func together(name string, target Target, members []Knob) Knob {
	knob := Knob{name: name, target: target, about: members[0].about}
	knob.about.Text, knob.about.Numeric = "the sysctls "+strings.Join(strings.Split(name, togetherSign), " and "), false
	for _, member := range members {
		knob.about.WashOut = max(knob.about.WashOut, member.about.WashOut)
	}
	knob.join = func(values []string) string { return strings.Join(values, togetherSign) }
	knob.check = func(value string) (string, error) {
		values := strings.Split(value, togetherSign)
		if len(values) != len(members) {
			return "", fmt.Errorf("%d values joined by %s are needed", len(members), togetherSign)
		}
		for i, member := range members {
			var err error
			if values[i], err = member.spelled(values[i]); err != nil {
				return "", err
			}
			if values[i] == "" {
				return "", errors.New("one of its values is empty")
			}
		}
		return knob.join(values), nil
	}
	knob.parts = func() ([]part, error) {
		var parts []part
		for i, member := range members {
			own, err := member.parts()
			if err != nil {
				return nil, err
			}
			own[0].want = func(value string) string { return strings.Split(value, togetherSign)[i] }
			parts = append(parts, own[0])
		}
		return parts, nil
	}
	return knob
}
