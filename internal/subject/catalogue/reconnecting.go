package catalogue

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// LateBy is how long after a reconnect the flaw EndsLate ends the old server: longer than the settle time of the scenarios, and shorter
// than that and what a survivor is watched for.
const LateBy = 2200 * time.Millisecond

// Reconnecting are hosts that connect a session anew inside of a call when its server is gone. In other respects each is the host that
// it is Like, and breaks the laws that this one breaks.
var Reconnecting = []Host{
	reconnecting("itself", Healthy, NoFlaw, "exact, but a call on a session whose server is gone connects it anew"),
	reconnecting("itself-naive", "naive", NoFlaw, "naive, but a call on a session whose server is gone connects it anew"),
	reconnecting("itself-reap-all", "reap-all", NoFlaw, "reap-all, but a call on a session whose server is gone connects it anew"),
	reconnecting("itself-late", Healthy, EndsLate,
		"exact, but a call on a session whose server is gone connects it anew, and the old server is ended 2.2s later",
		Finding{"storm", "L1", "late"}),
	reconnecting("itself-never", Healthy, NeverReconnects, "exact, but it claims to reconnect by itself, and does not",
		Finding{"storm", "L10", "no-recovery"}),
}

func reconnecting(name, like string, flaw Flaw, about string, shows ...Finding) Host {
	base := Hosts[slices.IndexFunc(Hosts, func(h Host) bool { return h.Name == like })]
	h := Host{Name: name, About: about, Profile: base.Profile, Flaw: flaw, Like: like, Shows: shows}
	h.Profile.Reconnects = driver.ByItself
	return h
}
