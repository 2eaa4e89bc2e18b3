package service

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// container is what is known of a container beside its id.
type container struct {
	name, image              string
	namespace, pod, contains string // of Kubernetes; contains is the container's own name
}

// maxContainerFile bounds a description that a manager of containers keeps.
const maxContainerFile = 4 << 20

// labels are those of the service that a container is.
func (c container) labels() map[string]string {
	labels := map[string]string{}
	for key, value := range map[string]string{"image": c.image, "namespace": c.namespace, "pod": c.pod,
		"container": c.contains} {
		if value != "" {
			labels[key] = value
		}
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// version is the image's tag; "latest" tells none.
func (c container) version() (version, from string) {
	image, digest, _ := strings.Cut(c.image, "@")
	_, name, found := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if found && name != "" && name != "latest" {
		return name, "image"
	}
	if _, sum, found := strings.Cut(digest, ":"); found && len(sum) >= 12 {
		return sum[:12], "image"
	}
	return "", ""
}

// container finds out what a container is called, once: "docker 4fd2c1a90b17", "pod 3d1c…
// containerd 0a1b…".
func (n *Namer) container(group string) container {
	if known, there := n.containers[group]; there {
		return known
	}
	if len(n.containers) >= maxContainer {
		clear(n.containers) // those that are gone with the others: each is looked up again
	}
	words := strings.Fields(group)
	found := container{}
	if len(words) >= 2 && words[0] == "pod" {
		found = n.podNamed(words[1])
		words = words[2:]
	}
	if found.name == "" && len(words) == 2 {
		switch words[0] {
		case "docker":
			found = n.dockerNamed(words[1])
		case "podman":
			found = n.podmanNamed(words[1])
		case "lxc", "nspawn":
			found.name = words[1]
		}
	}
	if found.name = clean(found.name); found.name == "" {
		found.name = clean(group)
	}
	found.image, found.namespace = clean(found.image), clean(found.namespace)
	found.pod, found.contains = clean(found.pod), clean(found.contains)
	n.containers[group] = found
	return found
}

// dockerNamed asks what the Docker daemon keeps of a container.
func (n *Namer) dockerNamed(id string) (found container) {
	folders, err := filepath.Glob(filepath.Join(n.root, "var/lib/docker/containers", id+"*"))
	if err != nil || len(folders) != 1 || strings.ContainsAny(id, `*?[\`) {
		return found
	}
	var config struct {
		Name   string
		Config struct {
			Image  string
			Labels map[string]string
		}
	}
	if readJSON(filepath.Join(folders[0], "config.v2.json"), &config) != nil {
		return found
	}
	found.name, found.image = strings.TrimPrefix(config.Name, "/"), config.Config.Image
	if service := config.Config.Labels["com.docker.compose.service"]; service != "" {
		found.contains, found.name = found.name, service
	}
	return found
}

// podmanNamed asks what Podman keeps of the containers of root.
func (n *Namer) podmanNamed(id string) (found container) {
	const list = "var/lib/containers/storage/overlay-containers/containers.json"
	var all []struct {
		ID       string   `json:"id"`
		Names    []string `json:"names"`
		Metadata string   `json:"metadata"`
	}
	if readJSON(filepath.Join(n.root, list), &all) != nil {
		return found
	}
	for _, one := range all {
		if !strings.HasPrefix(one.ID, id) || len(one.Names) == 0 {
			continue
		}
		var metadata struct {
			Image string `json:"image-name"`
		}
		_ = json.Unmarshal([]byte(one.Metadata), &metadata) // without it there is no image
		return container{name: one.Names[0], image: metadata.Image}
	}
	return found
}

// The kubelet names the folder of a pod's logs "NAMESPACE_POD_UID"; none of the three has an
// underscore.
const podLogs = "var/log/pods"

// What workloads add to their names for those of their pods: a ReplicaSet's hash and five letters,
// a DaemonSet's five letters, a Job's five, a StatefulSet's number
// (k8s.io/apimachinery/pkg/util/rand).
var podEnd = regexp.MustCompile(`(-[a-f0-9bcdfghjklmnpqrstvwxz]{7,10})?-[bcdfghjklmnpqrstvwxz2456789]{5}$|-[0-9]{1,4}$`)

// podNamed asks what the kubelet keeps of a pod. The service is the workload: what its pods have in
// common.
func (n *Namer) podNamed(uid string) (found container) {
	if strings.ContainsAny(uid, `*?[\/`) {
		return found
	}
	folders, err := filepath.Glob(filepath.Join(n.root, podLogs, "*_*_"+uid))
	if err != nil || len(folders) != 1 {
		return found
	}
	parts := strings.Split(filepath.Base(folders[0]), "_")
	if len(parts) != 3 {
		return found
	}
	found.namespace, found.pod = parts[0], parts[1]
	found.name = podEnd.ReplaceAllString(found.pod, "")
	if found.name == "" {
		found.name = found.pod
	}
	return found
}

// readJSON reads a document of others.
func readJSON(path string, into any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewDecoder(io.LimitReader(file, maxContainerFile)).Decode(into)
}
