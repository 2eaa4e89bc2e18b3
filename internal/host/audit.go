package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Requests of the audit subsystem (include/uapi/linux/audit.h). Only these two are ever sent: both
// read. Enabling audit is not among them, because until the next boot it cannot be undone.
const (
	auditGet       = 1000
	auditListRules = 1013
)

// auditPatience bounds how long an answer is waited for: the kernel answers at once.
const auditPatience = 200 * time.Millisecond

// auditRulesLimit bounds the messages that are counted.
const auditRulesLimit = 4096

// auditState is what the kernel says of its audit subsystem.
type auditState struct {
	enabled, daemon, backlog uint32
	rules                    int
}

// audit keeps whether system calls are audited: each then pays for it. Reading needs
// CAP_AUDIT_CONTROL.
func (collect *collector) audit() {
	const source = "netlink audit"
	state, err := readAudit()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		collect.denied = append(collect.denied, "audit")
	}
	if err != nil {
		return
	}
	collect.add("audit.enabled", map[uint32]string{0: "off", 1: "on", 2: "on, locked"}[state.enabled], source)
	collect.add("audit.rules", strconv.Itoa(state.rules), source)
	collect.add("audit.daemon", strconv.FormatBool(state.daemon != 0), source)
	collect.add("audit.backlog_limit", strconv.FormatUint(uint64(state.backlog), 10), source)
}

func readAudit() (auditState, error) {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_AUDIT)
	if err != nil {
		return auditState{}, fmt.Errorf("ask for the state of audit: %w", err)
	}
	defer unix.Close(socket)
	patience := unix.NsecToTimeval(int64(auditPatience))
	if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return auditState{}, fmt.Errorf("ask for the state of audit: %w", err)
	}
	var state auditState
	err = askAudit(socket, auditGet, func(kind uint16, body []byte) bool {
		if kind != auditGet || len(body) < 32 {
			return true
		}
		word := func(i int) uint32 { return binary.NativeEndian.Uint32(body[4*i:]) }
		state = auditState{enabled: word(1), daemon: word(3), backlog: word(5)}
		return false
	})
	if err != nil {
		return auditState{}, err
	}
	err = askAudit(socket, auditListRules, func(kind uint16, _ []byte) bool {
		if kind == auditListRules {
			state.rules++
		}
		return kind != unix.NLMSG_DONE && state.rules < auditRulesLimit
	})
	return state, err
}

// askAudit sends one request and gives its answers to each until that returns false.
func askAudit(socket int, request uint16, each func(kind uint16, body []byte) bool) error {
	message := make([]byte, unix.NLMSG_HDRLEN)
	binary.NativeEndian.PutUint32(message, uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], request)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST)
	if err := unix.Sendto(socket, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("ask for the state of audit: %w", err)
	}
	buffer := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(socket, buffer, 0)
		if err != nil {
			return fmt.Errorf("read the state of audit: %w", err)
		}
		for rest := buffer[:n]; len(rest) >= unix.NLMSG_HDRLEN; {
			size := binary.NativeEndian.Uint32(rest)
			if size < unix.NLMSG_HDRLEN || size > uint32(len(rest)) {
				return errors.New("read the state of audit: a torn message")
			}
			kind, body := binary.NativeEndian.Uint16(rest[4:]), rest[unix.NLMSG_HDRLEN:size]
			if kind == unix.NLMSG_ERROR && len(body) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(body)); code != 0 {
					return fmt.Errorf("read the state of audit: %w", unix.Errno(-code))
				}
			} else if !each(kind, body) {
				return nil
			}
			rest = rest[min(int(size+3)&^3, len(rest)):]
		}
	}
}
