package code

import (
	"testing"

	"culprit/recording"
)

func TestPackagesByFile(t *testing.T) {
	const modules, hub = "/root/go/pkg/mod/", "/root/go/pkg/mod/github.com/"
	const crates = "/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/"
	for _, each := range []struct {
		kind       recording.FrameKind
		name, file string
		want       Owner
	}{
		{"go", "github.com/jackc/pgx/v5.(*Conn).Query", hub + "jackc/pgx/v5@v5.5.0/conn.go", Package},
		{"go", "github.com/jackc/pgx/v5/pgconn.read", hub + "jackc/pgx/v5@v5.5.0/pgconn/read.go",
			Package},
		{"go", "github.com/BurntSushi/toml.Decode", hub + "!burnt!sushi/toml@v1.3.2/decode.go",
			Package},
		{"go", "gopkg.in/yaml%2ev3.Unmarshal", modules + "gopkg.in/yaml.v3@v3.0.1/yaml.go", Package},
		{"go", "github.com/x/dep.F", "github.com/x/dep@v1.0.0/f.go", Package}, // -trimpath
		{"go", "github.com/x/dep.F", "/srv/shop/vendor/github.com/x/dep/f.go", Package},
		{"go", "github.com/acme/shop/cart.Total", "/srv/shop/cart/total.go", Program},
		{"go", "github.com/acme/shop/cart.Total", "github.com/acme/shop/cart/total.go", Program},
		// A function of a package that was inlined into one of the program's.
		{"go", "github.com/acme/shop/cart.Total", hub + "x/dep@v1.0.0/f.go", Program},
		{"go", "main.total", hub + "x/dep@v1.0.0/f.go", Program},
		{"go", "golang.org/x/net/http2.F", modules + "golang.org/x/net@v0.19.0/http2/f.go", Package},
		{"go", "golang.org/x/net/http2.F", "", Package},
		{"go", "golang.org/x/tools/gopls/cmd.Main", "/src/tools/gopls/cmd/main.go", Program},
		{"go", "vendor/golang.org/x/net/http2.F", "/usr/local/go/src/vendor/golang.org/x/f.go", Standard},
		{"node", "handle", "/srv/shop/node_modules/express/lib/router/index.js", Package},
		{"node", "handle", "/srv/shop/node_modules/@nestjs/core/router.js", Package},
		{"node", "handle", "/srv/shop/lib/router.js", Program},
		{"node", "handle", "node:internal/timers", Standard},
		{"node", "join", "<unknown>", Runtime},
		{"native", "serde_json::de::from_str", crates + "serde_json-1.0.108/src/de.rs", Package},
		{"native", "<serde_json::de::From<R>>::parse", crates + "serde_json-1.0.108/src/de.rs", Package},
		{"native", "crossbeam_channel::send", crates + "crossbeam-channel-0.5.8/src/send.rs", Package},
		{"native", "shop::total", crates + "serde_json-1.0.108/src/de.rs", Program}, // inlined
		{"native", "shop::total", "/srv/shop/src/main.rs", Program},
		{"native", "asio::detail::scheduler::do_run_one", "/usr/include/asio/detail/impl/scheduler.ipp", Package},
		{"native", "boost::asio::io_context::run", "/usr/local/include/boost/asio/impl/io_context.ipp", Package},
		{"native", "Eigen::internal::gebp_kernel", "/usr/include/eigen3/Eigen/src/Core/products/General.h", Package},
		{"native", "session::read", "/usr/include/asio/basic_stream_socket.hpp", Program}, // inlined
		{"native", "asio::handler", "/srv/shop/include/asio/handler.hpp", Program},
		{"python", "get", "/srv/venv/lib/python3.11/site-packages/requests/api.py", Package},
		{"python", "run", "/usr/lib/python3.11/subprocess.py", Standard},
		{"python", "f", "/usr/lib/python3/dist-packages/yaml/__init__.py", Package},
		{"ruby", "call", "/usr/share/rubygems-integration/all/gems/rack-2.2.4/lib/rack.rb", Package},
		{"ruby", "each", "<internal:array>", Standard},
		{"php", "send", "/srv/shop/vendor/guzzlehttp/guzzle/src/Client.php", Package},
		{"php", "send", "/srv/shop/src/Client.php", Program},
		{"jvm", "java.util.HashMap.get", "HashMap.java", Standard},
		{"jvm", "com.acme.Shop.sell", "Shop.java", Program},
		{"jvm", "byte[] com.acme.Shop.read(byte[], int)", "Shop.java", Program},
		{"jvm", "java.lang.Object java.util.HashMap.get(java.lang.Object)", "HashMap.java", Standard},
		{"jvm", "StubRoutines (initialstubs)", "", Runtime},
	} {
		frame := recording.Frame{Name: each.name, Kind: each.kind, File: each.file}
		if got := OwnerOf(frame); got != each.want {
			t.Errorf("%s in %s is of owner %d, want %d", each.name, each.file, got, each.want)
		}
	}
}

func TestPackagesByModule(t *testing.T) {
	for module, want := range map[string]Owner{"libpq.so.5.15": Package,
		"/lib/libsqlite3.so.0": Package, "libicuuc.so.72.1": Package, "libgomp.so.1": Package,
		"libshop.so": Program, "shop": Program, "ngx_http_perl_module.so": Program} {
		frames := []recording.Frame{native("main", "shop"), native("find_order", "shop"),
			native("find", module)}
		if got := Owners(frames)[2]; got != want {
			t.Errorf("a function of %s is of owner %d, want %d", module, got, want)
		}
		frames[1].Name = "shop+0x4710()"
		if got := Owners(frames)[2]; got != Program {
			t.Errorf("a function of %s is of owner %d below a program without names", module, got)
		}
	}
}

// A program that was installed as a package is nobody's package, and those that it uses are.
func TestProgramsInstalledAsPackages(t *testing.T) {
	const modules = "/root/go/pkg/mod/github.com/"
	const scripts = "/usr/lib/node_modules/"
	const crates = "/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/"
	frame := func(kind recording.FrameKind, name, file string) recording.Frame {
		return recording.Frame{Name: name, Kind: kind, File: file}
	}
	for _, frames := range [][]recording.Frame{
		{frame("go", "main.main", modules+"acme/lint@v1.2.0/cmd/lint/main.go"),
			frame("go", "github.com/acme/lint/rules.Check", modules+"acme/lint@v1.2.0/rules/check.go"),
			frame("go", "github.com/x/dep.F", modules+"x/dep@v1.0.0/f.go")},
		{frame("node", "executeUserEntryPoint", "node:internal/modules/run_main"),
			frame("node", "check", scripts+"typescript/lib/tsc.js"),
			frame("node", "parse", scripts+"typescript/node_modules/dep/index.js")},
		{frame("native", "bat::main", crates+"bat-0.24.0/src/main.rs"),
			frame("native", "bat::printer::print", crates+"bat-0.24.0/src/printer.rs"),
			frame("native", "syntect::parse", crates+"syntect-5.0.0/src/parse.rs")},
	} {
		rec := &recording.Recording{Frames: frames,
			Stacks: []recording.Stack{{Frames: []int32{0, 1, 2}}}}
		homes := HomesOf([]*recording.Recording{rec})
		for i := range frames {
			frames[i].File = homes.Within(&frames[i])
		}
		if owners := Owners(frames); owners[1] != Program || owners[2] != Package {
			t.Errorf("%v: owners %v", frames, owners)
		}
	}
}
