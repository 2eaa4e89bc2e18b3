package host

import (
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"
)

// elfWithID is the smallest ELF file that has a build id, behind another note.
func elfWithID(id string) string {
	note := func(kind uint32, content string) []byte {
		head := binary.LittleEndian.AppendUint32(nil, 4)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(content)))
		head = append(binary.LittleEndian.AppendUint32(head, kind), "GNU\x00"...)
		head = append(head, content...)
		return append(head, make([]byte, (4-len(content)%4)%4)...)
	}
	notes := append(note(1, "other"), note(typeBuildID, id)...)
	file := make([]byte, elfHeaderSize+programHeadSize)
	copy(file, "\x7fELF\x02\x01")
	binary.LittleEndian.PutUint64(file[32:], elfHeaderSize)
	binary.LittleEndian.PutUint16(file[54:], programHeadSize)
	binary.LittleEndian.PutUint16(file[56:], 1)
	head := file[elfHeaderSize:]
	binary.LittleEndian.PutUint32(head, typeNote)
	binary.LittleEndian.PutUint64(head[8:], uint64(len(file)))
	binary.LittleEndian.PutUint64(head[32:], uint64(len(notes)))
	return string(file) + string(notes)
}

// ext4Disk is the begin of a disk with a journal of 64 MB on blocks of 4 kB.
func ext4Disk() string {
	disk := make([]byte, superblockAt+superblockSize)
	block := disk[superblockAt:]
	binary.LittleEndian.PutUint16(block[0x38:], superblockMagic)
	binary.LittleEndian.PutUint32(block[0x18:], 2)
	binary.LittleEndian.PutUint16(block[0x58:], 256)
	binary.LittleEndian.PutUint32(block[0x5c:], 0x4|0x20)
	binary.LittleEndian.PutUint32(block[0x60:], 0x40)
	binary.LittleEndian.PutUint32(block[0x64:], 0x400)
	block[0xfd] = 1
	binary.LittleEndian.PutUint32(block[0x10c+16*4:], 64<<20)
	return string(disk)
}

func TestRuntimeFactsOfAFixture(t *testing.T) {
	const home = "/usr/lib/jvm/seventeen"
	files := map[string]string{
		"proc/42/maps": "1000-2000 r-xp 00000000 fe:00 7 " + home + "/bin/java\n" +
			"2000-3000 r--p 00000000 fe:00 8 /data only\n" +
			"3000-4000 r-xp 00000000 fe:00 9 " + home + "/lib/server/libjvm.so\n" +
			"4000-5000 r-xp 00000000 fe:00 10 /lib/libc.so.6 (deleted)\n5000-6000 r-xp 00000000 00:00 0 [vdso]\n" +
			"6000-7000 r-xp 00000000 fe:00 11 /opt/python3.11\ntorn\n",
		"proc/42/root" + home + "/lib/server/libjvm.so": "not ELF",
		"proc/42/root" + home + "/release": "" +
			"IMPLEMENTOR=\"Some \x1b[31mbody\"\nJAVA_VERSION=\"17.0.13\"\nX=1\n",
		"proc/42/map_files/4000-5000": elfWithID("\x12\x34\xab"),
		"proc/42/cmdline": "java\x00-Xmx1g\x00-cp\x00-Xno.jar\x00-Dpassword=x\x00" +
			"-XX:+UseZGC\x00-jar\x00app.jar\x00-Xhers\x00",
		"proc/42/cwd":  "→ /srv",
		"proc/42/fd/3": "→ /srv/data/log",
		"proc/42/fd/4": "→ socket:[9]",
		"proc/42/mountinfo": "20 1 254:0 / / rw - ext4 /dev/vda rw\n" +
			"21 1 7:0 / /srv/data rw,noatime - ext4 /dev/loop0 rw,data=writeback\n",
		"dev/loop0": ext4Disk(),
		"dev/vda":   "short",
	}
	facts := RuntimeFacts(plant(t, files), 42)
	expect(t, facts, map[string]string{
		"target.library.libc.so.6": "1234ab", "target.library.libjvm.so": "", "target.library.java": "",
		"target.runtime.java.version": "17.0.13", "target.runtime.java.implementor": "Some ?[31mbody",
		"target.runtime.java.flags": "-Xmx1g -XX:+UseZGC", "target.runtime.python.version": "3.11",
		"target.runtime.go.version": "", "target.mount.cwd.device": "/dev/vda", "target.mount.cwd.features": "",
		"target.mount.files.point": "/srv/data", "target.mount.files.options": "rw,noatime",
		"target.mount.files.features":      "has_journal dir_index extent metadata_csum",
		"target.mount.files.journal_bytes": "67108864", "target.mount.files.block_bytes": "4096",
		"target.mount.files.inode_bytes": "256",
	})
	for _, fact := range facts {
		if strings.Contains(fact.Source, "/42/") {
			t.Errorf("%+v: the source holds a pid", fact)
		}
	}
	if len(RuntimeFacts(plant(t, map[string]string{"x": ""}), 42)) != 0 {
		t.Error("a process that is gone has facts")
	}
}

// A file that somebody made to confuse has no build id, and is refused soon.
func TestHostileBuildID(t *testing.T) {
	good := elfWithID("\x01\x02\x03\x04")
	for name, content := range map[string]string{"empty": "", "short": good[:40],
		"no notes": good[:elfHeaderSize+programHeadSize],
		"text":     strings.Repeat("x", 5000), "cut": good[:len(good)-2]} {
		if id, err := (tree{plant(t, map[string]string{"f": content})}).buildID("/f"); err == nil {
			t.Errorf("%s: build id %q", name, id)
		}
	}
	root := t.TempDir()
	for at := range good { // every byte wrong in turn: an answer or an error, never a panic
		bent := []byte(good)
		bent[at] = 0xff
		if err := os.WriteFile(root+"/f", bent, 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := (tree{root}).buildID("/f")
		if again := findBuildID(bent); len(id) > 128 || len(again) > 128 || err == nil && id == "" {
			t.Errorf("byte %d: %q, %q, %v", at, id, again, err)
		}
	}
}

// This very program is a Go program, with the libraries that it has.
func TestRuntimeFactsOfThisProgram(t *testing.T) {
	facts := RuntimeFacts("/", os.Getpid())
	expect(t, facts, map[string]string{"target.runtime.go.version": runtime.Version()})
	if lookUp(facts, "target.mount.cwd.type") == "" {
		t.Errorf("no file system below the current folder: %v", facts)
	}
}

// What the kernel says of audit is read and not changed.
func TestAudit(t *testing.T) {
	before, err := readAudit()
	if err != nil {
		t.Skipf("audit cannot be read here: %v", err)
	}
	collect := &collector{}
	collect.audit()
	if lookUp(collect.facts, "audit.enabled") == "" || lookUp(collect.facts, "audit.rules") == "" {
		t.Errorf("audit is %+v, the facts are %v", before, collect.facts)
	}
	if after, err := readAudit(); err != nil || after.enabled != before.enabled || after.rules != before.rules {
		t.Errorf("audit was %+v and is %+v (%v)", before, after, err)
	}
}

func TestTopologyOfAFixture(t *testing.T) {
	files := map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu constant_tsc avx2\n",
		"sys/devices/system/node/node0/distance": "10 20\n", "sys/class/net/eth0/device/vendor": "0x1d0f\n",
		"sys/class/net/eth0/mtu": "9001\n", "sys/class/net/veth7/mtu": "1500\n",
		"sys/devices/system/cpu/cpu0/cache/index0/level":           "1\n",
		"sys/devices/system/cpu/cpu0/cache/index0/type":            "Data\n",
		"sys/devices/system/cpu/cpu0/cache/index0/size":            "32K\n",
		"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list": "0-1\n",
		"sys/devices/system/cpu/cpufreq/boost":                     "1\n"}
	for cpu, core := range []string{"0", "0", "1", "0"} {
		place := "sys/devices/system/cpu/cpu" + string(rune('0'+cpu)) + "/topology/"
		files[place+"core_id"], files[place+"physical_package_id"] = core, string(rune('0'+cpu/3))
	}
	expect(t, Facts(plant(t, files)), map[string]string{"cpu.topology": "2 sockets, 3 cores, 4 threads",
		"cpu.cache.l1d": "32K for CPUs 0-1", "cpu.flags": "constant_tsc avx2", "numa.node0.distances": "10 20",
		"net.interface.eth0.mtu": "9001", "net.interface.veth7.mtu": ""})
}
