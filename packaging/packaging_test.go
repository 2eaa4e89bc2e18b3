// Package packaging has no code: it holds what brings the agent onto hosts, and a test that its
// parts agree.
package packaging

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The unit, the image and the DaemonSet give the agent the same capabilities, and none of those
// that are everything.
func TestCapabilitiesAgree(t *testing.T) {
	line := regexp.MustCompile(`(?m)^CapabilityBoundingSet=(.*)$`).FindStringSubmatch(read(t, "culprit-agent.service"))
	if line == nil {
		t.Fatal("the unit bounds no capabilities")
	}
	unit := strings.Fields(strings.ReplaceAll(line[1], "CAP_", ""))
	var image []string
	for _, found := range regexp.MustCompile(`--cap-add=(\w+)`).FindAllStringSubmatch(read(t, "Containerfile"), -1) {
		image = append(image, found[1])
	}
	container := daemonSet(t)
	for where, got := range map[string][]string{"image": image, "DaemonSet": container.SecurityContext.Capabilities.Add} {
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(unit))) {
			t.Errorf("the %s has %v, the unit %v", where, got, unit)
		}
	}
	for _, all := range []string{"SYS_ADMIN", "SYS_MODULE", "ALL", "DAC_OVERRIDE"} {
		if slices.Contains(unit, all) {
			t.Errorf("the agent is given %s", all)
		}
	}
	if !slices.Equal(container.SecurityContext.Capabilities.Drop, []string{"ALL"}) ||
		container.SecurityContext.Privileged || !container.SecurityContext.ReadOnly {
		t.Errorf("the DaemonSet's container has %+v", container.SecurityContext)
	}
}

// container is what the test reads of the DaemonSet's container.
type container struct {
	Name            string
	Args            []string
	SecurityContext struct {
		Privileged   bool
		ReadOnly     bool `yaml:"readOnlyRootFilesystem"`
		Capabilities struct{ Drop, Add []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct{ Name, MountPath string } `yaml:"volumeMounts"`
}

func daemonSet(t *testing.T) container {
	t.Helper()
	var set struct {
		Kind string
		Spec struct {
			Template struct {
				Spec struct {
					HostPID    bool `yaml:"hostPID"`
					Containers []container
					Volumes    []struct{ Name string }
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "daemonset.yaml")), &set); err != nil {
		t.Fatal(err)
	}
	pod := set.Spec.Template.Spec
	if set.Kind != "DaemonSet" || !pod.HostPID || len(pod.Containers) != 1 {
		t.Fatalf("the DaemonSet is %+v", set)
	}
	for _, mount := range pod.Containers[0].VolumeMounts {
		known := false
		for _, volume := range pod.Volumes {
			known = known || volume.Name == mount.Name
		}
		if !known {
			t.Errorf("there is no volume %s", mount.Name)
		}
	}
	return pod.Containers[0]
}
