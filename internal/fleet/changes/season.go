package changes

import (
	"math"

	"culprit/internal/stat"
)

// How often hosts and hours are fitted in turn: few are enough where most hosts stay for days.
const (
	levelRounds  = 60
	levelSettled = 1e-6
)

// Level is the logarithm of the cost in each hour, when each host has an effect of its own; NaN
// without hosts. Its mean is that of all values.
func Level(table *Table) []float64 {
	level := commonLevel(table)
	values, fitted, count := 0.0, 0.0, 0.0
	for _, of := range table.Values {
		for hour, value := range of {
			if value == value {
				values, fitted, count = values+float64(value), fitted+level[hour], count+1
			}
		}
	}
	for hour := range level {
		level[hour] += (values - fitted) / count
	}
	return level
}

// commonLevel is what each hour has in common, when each host has an effect of its own (least
// squares of two factors, in turns). A mean over the hosts that are there would follow who is
// there.
func commonLevel(table *Table) []float64 {
	hours := table.Hours()
	level := make([]float64, hours)
	own := make([]float64, len(table.Values))
	sums, counts := make([]float64, hours), make([]float64, hours)
	for range levelRounds {
		clear(sums)
		clear(counts)
		moved := 0.0
		for host, values := range table.Values {
			sum, count := 0.0, 0.0
			for hour, value := range values {
				if value == value {
					sum += float64(value) - level[hour]
					count++
				}
			}
			if count == 0 {
				continue
			}
			own[host] = sum / count
			for hour, value := range values {
				if value == value {
					sums[hour] += float64(value) - own[host]
					counts[hour]++
				}
			}
		}
		for hour := range level {
			if counts[hour] == 0 {
				level[hour] = math.NaN()
				continue
			}
			next := sums[hour] / counts[hour]
			if math.IsNaN(level[hour]) {
				level[hour] = next
			}
			moved = max(moved, math.Abs(next-level[hour]))
			level[hour] = next
		}
		if moved < levelSettled {
			break
		}
	}
	return level
}

// deseasoned is each hour less the same hour of the past three weeks, the last day left out,
// weekends apart. Only the past is used. NaN in the first weeks.
func deseasoned(level []float64, weekend func(hour int) bool) []float64 {
	result := make([]float64, len(level))
	for i := range result {
		result[i] = math.NaN()
	}
	days := len(level) / day
	daily := make([]float64, days+1)
	for d := range days {
		daily[d] = middleOf(level[d*day : (d+1)*day])
	}
	for d := seasonDays; d*day < len(level); d++ {
		from, to := d-seasonDays, d-1
		var week, ends []float64
		for past := from; past < to; past++ {
			if math.IsNaN(daily[past]) {
				continue
			}
			if weekend(past * day) {
				ends = append(ends, daily[past])
			} else {
				week = append(week, daily[past])
			}
		}
		base := stat.Middle(week)
		if weekend(d*day) && len(ends) > 0 {
			base = stat.Middle(ends)
		}
		if len(week) == 0 {
			continue
		}
		for h := 0; h < day && d*day+h < len(level); h++ {
			var shape []float64
			for past := from; past < to; past++ {
				if away := level[past*day+h] - daily[past]; !math.IsNaN(away) {
					shape = append(shape, away)
				}
			}
			if len(shape) >= seasonDays/3 {
				result[d*day+h] = level[d*day+h] - base - stat.Middle(shape)
			}
		}
	}
	return result
}

// middleOf is the median of what is known, NaN of a day with less than half of its hours.
func middleOf(values []float64) float64 {
	values = known(values)
	if 2*len(values) < day {
		return math.NaN()
	}
	return stat.Middle(values)
}
