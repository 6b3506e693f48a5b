import Foundation
import TestSupport
import Testing

@Suite("deploy/: configurations of HAProxy, nginx and Varnish in front of the rooms")
struct FrontTests {
    /// A directory with a certificate, which configurations with TLS need to be read.
    private final class Place {
        let path = NSTemporaryDirectory() + "tandem-front-\(UUID().uuidString)"

        init() throws {
            try FileManager.default.createDirectory(atPath: self.path + "/tls", withIntermediateDirectories: true)
            let made = try Self.run(
                FrontTests.tool("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", self.path + "/rooms.key", "-out", self.path + "/rooms.pem",
                ])
            try #require(made.code == 0, "\(made.output)")
            let both = try ["pem", "key"].map { kind in
                try String(contentsOfFile: self.path + "/rooms.\(kind)", encoding: .utf8)
            }
            try self.write(both.joined(), to: "tls/rooms.pem")
        }

        deinit { try? FileManager.default.removeItem(atPath: self.path) }

        @discardableResult
        func write(_ text: String, to name: String) throws -> String {
            try text.write(toFile: "\(self.path)/\(name)", atomically: true, encoding: .utf8)
            return "\(self.path)/\(name)"
        }

        /// A configuration of `deploy/` with other paths.
        func configuration(_ source: String, _ changes: [(String, String)]) throws -> String {
            var text = SourceTree.text(source)
            for (before, after) in changes {
                #expect(text.contains(before), "\(source) has no \(before)")
                text = text.replacingOccurrences(of: before, with: after)
            }
            return try self.write(text, to: URL(fileURLWithPath: source).lastPathComponent)
        }

        static func run(_ tool: String, _ arguments: [String]) throws -> (code: Int32, output: String) {
            let (process, pipe) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: tool)
            process.arguments = arguments
            (process.standardOutput, process.standardError) = (pipe, pipe)
            try process.run()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: output, as: UTF8.self))
        }
    }

    /// The path of a program that may be in a directory for administrators. Without it, the current test ends as skipped.
    private static func tool(_ name: String) throws -> String {
        let path = "/usr/sbin/\(name)"
        return FileManager.default.isExecutableFile(atPath: path) ? path : try TestTool.require(name)
    }

    @Test("haproxy -c accepts deploy/haproxy/rooms.cfg without warnings")
    func haproxy() throws {
        let (tool, place) = (try Self.tool("haproxy"), try Place())
        try place.write("88231 127.0.0.1:8080\n", to: "rooms.map")
        let path = try place.configuration(
            "deploy/haproxy/rooms.cfg",
            [
                // The limit of open files may be lower where tests run.
                ("maxconn 20000", "maxconn 100"), ("/etc/haproxy/certs/", "\(place.path)/tls/"),
                ("/etc/haproxy/pause.lua", SourceTree.root.appendingPathComponent("deploy/haproxy/pause.lua").path),
                ("/run/haproxy/admin.sock", "\(place.path)/admin.sock"),
                ("/etc/haproxy/rooms.map", "\(place.path)/rooms.map"),
            ])
        let result = try Place.run(tool, ["-c", "-f", path])
        #expect(result.code == 0 && !result.output.contains("WARNING"), "\(result.output)")
    }

    @Test(
        "haproxy -c accepts the configurations for publishers without warnings",
        arguments: ["rtmps-sni.cfg", "whip.cfg"])
    func publishers(_ name: String) throws {
        let (tool, place) = (try Self.tool("haproxy"), try Place())
        let map = name == "whip.cfg" ? "whip.map" : "publishers.map"
        try place.write("88231 127.0.0.1:1936\n", to: map)
        var changes = [
            ("maxconn 4000", "maxconn 100"), ("/run/haproxy/", "\(place.path)/"),
            ("/etc/haproxy/\(map)", "\(place.path)/\(map)"),
        ]
        if name == "whip.cfg" { changes.append(("/etc/haproxy/certs/", "\(place.path)/tls/")) }
        let path = try place.configuration("deploy/edge-publishers/\(name)", changes)
        let result = try Place.run(tool, ["-c", "-f", path])
        #expect(result.code == 0 && !result.output.contains("WARNING"), "\(result.output)")
    }

    @Test("nginx -t accepts deploy/nginx/front.conf without warnings")
    func nginx() throws {
        let (tool, place) = (try Self.tool("nginx"), try Place())
        try place.write("88231 127.0.0.1:8080;\n", to: "rooms.map")
        let front = try place.configuration(
            "deploy/nginx/front.conf",
            [
                ("/var/cache/nginx/rooms", "\(place.path)/cache"), ("/etc/nginx/tls/", "\(place.path)/"),
                ("/etc/nginx/tandem-rooms.map", "\(place.path)/rooms.map"), ("listen 443", "listen 127.0.0.1:8443"),
            ])
        // The default directories of temporary files may belong to another user.
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(place.path)/\($0);" }.joined(separator: " ")
        let main = try place.write(
            "pid \(place.path)/pid; error_log stderr warn; events {} http { \(temporary) include \(front); }",
            to: "nginx.conf")
        let result = try Place.run(tool, ["-t", "-c", main, "-p", place.path])
        #expect(result.code == 0 && !result.output.contains("[warn]"), "\(result.output)")
    }

    @Test("varnishd compiles deploy/varnish/rooms.vcl")
    func varnish() throws {
        let tool = try Self.tool("varnishd")
        let path = SourceTree.root.appendingPathComponent("deploy/varnish/rooms.vcl").path
        let result = try Place.run(tool, ["-C", "-f", path])
        #expect(result.code == 0, "\(result.output.suffix(2_000))")
    }

    /// The patterns of a map of the nginx configuration, in their order, each with its value.
    private static func map(_ variable: String) throws -> [(pattern: NSRegularExpression, value: String)] {
        let text = SourceTree.text("deploy/nginx/front.conf")
        let head = try #require(text.range(of: " $\(variable) {\n"))
        let lines = text[head.upperBound...].components(separatedBy: "\n}")[0].split(separator: "\n")
        return try lines.compactMap { line in
            guard let match = line.firstMatch(of: /^\s*"~(.+)" (.+);$/) else { return nil }
            return (try NSRegularExpression(pattern: String(match.1)), String(match.2))
        }
    }

    private static func matches(_ variable: String, _ text: String) throws -> Bool {
        try self.map(variable).contains { row in
            row.pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        }
    }

    @Test(
        "the patterns of $expired in front.conf match an expiry time if and only if it has passed, and do not match a missing one"
    )
    func expired() throws {
        let rows = try Self.map("expired")
        #expect(rows.count == 2 && rows.allSatisfy { $0.value == "1" })
        func isExpired(_ expiry: String, _ now: Int) -> Bool {
            let text = "\(expiry) \(now).123"
            return rows.contains { row in
                row.pattern.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
            }
        }
        for step in 0..<3_000 {
            // Differences of one second to thirty years, in both directions.
            let now = 1_700_000_000 + step &* 1_150_003 % 2_300_000_000
            let reach = 1 << (3 * (step % 10))
            let expiry = now + step &* 7_919 % (2 * reach + 1) - reach
            guard (1_000_000_000..<10_000_000_000).contains(expiry) else { continue }
            // The room accepts a URL before the second in which it expires.
            #expect(isExpired("\(expiry)", now) == (expiry <= now), "\(expiry) at \(now)")
        }
        // URLs without a signature have no time; the worker decides about them.
        #expect(!isExpired("", 1_800_000_000))
    }

    @Test(
        "front.conf does not cache a request whose query has exp in a form that it cannot read, and reads only lower-case exp"
    )
    func unclear() throws {
        let clear = [
            "", "_HLS_msn=7&_HLS_part=1", "exp=1800003600&sig=1aab", "exp=1800003600&scope=%2F720p&sig=1aab&_HLS_msn=7",
        ]
        let unclear = [
            "e%78p=1800003600&sig=1aab", "a=b&%65xp=1800003600", "exp=18000036001&sig=1aab", "exp=&sig=1aab",
            "exp=180&sig=1aab", "sig=1aab&exp=1800003600x", "exp=1800003600&exp=1",
        ]
        for query in clear { #expect(try !Self.matches("unclear", query), "\(query)") }
        for query in unclear { #expect(try Self.matches("unclear", query), "\(query)") }
        let text = SourceTree.text("deploy/nginx/front.conf")
        // nginx looks its own variables of parameters up without regard to case, the worker does not.
        #expect(text.contains("map \"$expiry $msec\" $expired {") && !text.contains("map \"$arg_"))
        let expiry = try Self.map("expiry")
        #expect(expiry.map(\.value) == ["$seconds"])
        for (query, seconds) in [
            ("exp=1800003600&sig=1aab", "1800003600"), ("sig=1aab&exp=1800003600", "1800003600"),
            ("EXP=9999999999&exp=1800003600", "1800003600"), ("EXP=1800003600", nil), ("exp=18000036001", nil),
            ("xexp=1800003600", nil), ("exp=", nil), ("", nil),
        ] {
            let match = expiry[0].pattern.firstMatch(in: query, range: NSRange(query.startIndex..., in: query))
            let found = match.map { (query as NSString).substring(with: $0.range(withName: "seconds")) }
            #expect(found == seconds, "\(query)")
        }
        for directive in ["proxy_cache_bypass", "proxy_no_cache"] {
            #expect(text.contains("\(directive) $http_authorization $unclear;"))
        }
    }

    @Test("the cache key of front.conf contains the query without the CMCD parameter")
    func key() throws {
        let rows = try Self.map("key_args")
        #expect(rows.map(\.value) == ["$before$after"])
        func key(_ query: String) -> String {
            let pattern = rows[0].pattern
            guard let match = pattern.firstMatch(in: query, range: NSRange(query.startIndex..., in: query)) else {
                return query
            }
            return ["before", "after"].map { (query as NSString).substring(with: match.range(withName: $0)) }.joined()
        }
        for query in ["", "_HLS_msn=7&_HLS_part=1", "exp=1800003600&sig=1aab", "xCMCD=1", "a=CMCD"] {
            #expect(key(query) == query)
        }
        #expect(key("CMCD=br%3D1") == "" && key("_HLS_msn=7&CMCD=x") == "_HLS_msn=7&")
        #expect(key("exp=1800003600&CMCD=x&sig=1aab") == "exp=1800003600&&sig=1aab")
        let text = SourceTree.text("deploy/nginx/front.conf")
        #expect(text.contains("proxy_cache_key $room$room_path?$key_args|$http_origin;"))
    }

    @Test("HAProxy is configured for 90 retries, one per second, and Varnish waits at least 108 s for the first byte")
    func patience() throws {
        let text = SourceTree.text("deploy/haproxy/rooms.cfg")
        // With 90 attempts, the worker's own 503 is repeated for 90 s as well.
        #expect(SourceTree.text("deploy/haproxy/pause.lua").contains("core.msleep(1000)"))
        for line in ["retries 90", "retry-on conn-failure empty-response 502 503", "timeout connect 1s"] {
            #expect(text.contains("    \(line)\n"), "\(line)")
        }
        let varnish = SourceTree.text("deploy/varnish/rooms.vcl")
        let wait = try #require(varnish.firstMatch(of: /first_byte_timeout = (\d+)s;/)?.output.1)
        #expect(Int(wait) ?? 0 >= 90 + 18)
        // Varnish fetches from HAProxy, and HAProxy sends viewers to Varnish.
        #expect(text.contains("bind 127.0.0.1:8081\n") && varnish.contains(".port = \"8081\";"))
    }
}
