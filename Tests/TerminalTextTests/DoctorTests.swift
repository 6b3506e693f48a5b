import MediaTypes
import TerminalText
import Testing

@Suite("tandem doctor: findings from facts; and the text of tandem demo")
struct DoctorTests {
    /// A machine without problems.
    private static var healthy: MachineFacts {
        var facts = MachineFacts()
        facts.ffmpeg = "5.1"
        facts.libraries = [.init("libx264", nil, isRequired: true), .init("SRT", nil)]
        facts.fonts = [.init("Latin", nil), .init("Korean", nil)]
        (facts.openFiles, facts.neededFiles) = (65_536, 64)
        (facts.memory, facts.cores, facts.isClockSynchronized) = (8_000_000_000, 4, true)
        (facts.monotonic, facts.wallSeconds) = (1000, 1_800_000_000)
        facts.directory = "/out"
        facts.disk = .measured(latencies: [1_000_000, 2_000_000, 3_500_000], free: 81_000_000_000)
        (facts.hasLoopback4, facts.hasLoopback6, facts.addresses4) = (true, true, ["192.0.2.7"])
        return facts
    }

    @Test("tandem doctor has only findings that are ok on a machine without a problem")
    func ok() {
        let report = Self.healthy.report
        #expect(!report.hasErrors)
        #expect(
            report.text(.plain) == """
                ok       ffmpeg   FFmpeg 5.1
                ok       ffmpeg   libx264, SRT
                ok       fonts    Latin, Korean
                ok       limits   65536 open files
                ok       limits   8 GB of memory
                ok       limits   4 cores
                ok       clock    synchronized
                ok       disk     /out: a durable write takes 2 ms, at most 3.5 ms
                ok       disk     /out: 81 GB free
                ok       network  loopback: IPv4 and IPv6
                ok       network  192.0.2.7
                0 errors, 0 warnings

                """)
    }

    @Test(
        "tandem doctor lists all hardware encoders that open in one finding, and each other in one with the reason, without a warning"
    )
    func hardware() {
        var facts = Self.healthy
        facts.hardwareEncoders = [
            .init("h264_nvenc", .init("no driver", fix: "install it")), .init("h264_vaapi", nil),
            .init("h264_qsv", nil),
        ]
        let found = facts.report.findings.filter { $0.area == "encoders" }
        #expect(found.allSatisfy { $0.level == .ok })
        #expect(found.map(\.what) == ["h264_vaapi, h264_qsv: opens", "h264_nvenc: not here: no driver"])
    }

    struct Case: Sendable {
        let change: @Sendable (inout MachineFacts) -> Void
        let level: DoctorReport.Level
        let area: String
        let words: String

        init(
            _ level: DoctorReport.Level, _ area: String, _ words: String,
            _ change: @escaping @Sendable (inout MachineFacts) -> Void
        ) {
            (self.level, self.area, self.words, self.change) = (level, area, words, change)
        }
    }

    private static let cases: [Case] = [
        Case(.error, "ffmpeg", "libx264: none") { $0.libraries[0].problem = .init("none", fix: "install it") },
        Case(.warning, "ffmpeg", "SRT: none") { $0.libraries[1].problem = .init("none", fix: "install it") },
        Case(.warning, "fonts", "Korean: boxes") { $0.fonts[1].problem = .init("boxes", fix: "install it") },
        Case(.error, "limits", "63 open files, and a room needs 64") { $0.openFiles = 63 },
        Case(.warning, "limits", "1024 open files") { $0.openFiles = 1024 },
        Case(.warning, "limits", "500 MB of memory") { $0.memory = 500_000_000 },
        Case(.warning, "limits", "1 core") { $0.cores = 1 },
        Case(.warning, "limits", "4 cores, of which the cgroup's quota allows 1.5") { $0.quota = 1500 },
        Case(.warning, "clock", "not synchronized") { $0.isClockSynchronized = false },
        Case(.warning, "clock", "before 2024") { $0.wallSeconds = 5 },
        Case(.error, "clock", "does not advance") { $0.monotonic = 0 },
        Case(.error, "ports", "control.listen 127.0.0.1:1: in use") {
            $0.ports = [.init("control.listen 127.0.0.1:1", .init("in use", fix: "end it"), isRequired: true)]
        },
        Case(.error, "disk", "/out: there is no such directory") { $0.disk = .failed("there is no such directory") },
        Case(.warning, "disk", "takes 60 ms") { $0.disk = .measured(latencies: [60_000_000], free: nil) },
        Case(.error, "disk", "takes 2000 ms") { $0.disk = .measured(latencies: [2_000_000_000], free: nil) },
        Case(.warning, "disk", "100 MB free") { $0.disk = .measured(latencies: [1], free: 100_000_000) },
        Case(.error, "disk", "0 B free") { $0.disk = .measured(latencies: [1], free: 0) },
        Case(.error, "network", "127.0.0.1 cannot be used") { $0.hasLoopback4 = false },
        Case(.warning, "network", "no address that other machines") { $0.addresses4 = [] },
    ]

    @Test("tandem doctor has one finding for each problem, with its level and a remedy", arguments: cases.indices)
    func problems(index: Int) throws {
        let example = Self.cases[index]
        var facts = Self.healthy
        example.change(&facts)
        let found = facts.report.findings.filter { $0.level != .ok }
        #expect(found.count == 1, "\(found)")
        let finding = try #require(found.first)
        #expect(finding.level == example.level && finding.area == example.area, "\(finding)")
        #expect(finding.what.contains(example.words) && finding.fix?.isEmpty == false, "\(finding)")
        #expect(facts.report.hasErrors == (example.level == .error))
    }

    @Test("a doctor report in JSON has all findings; its text has each remedy on the line below its finding")
    func forms() {
        let report = DoctorReport(findings: [
            .init(.ok, "clock", "fine"), .init(.error, "disk", "full", fix: "free it"),
        ])
        #expect(
            report.json.text
                == #"{"ok":false,"findings":[{"level":"ok","area":"clock","what":"fine","fix":null},"#
                + #"{"level":"error","area":"disk","what":"full","fix":"free it"}]}"#)
        #expect(
            report.text(.plain).contains(
                "error    disk     full\n                  Fix: free it\n1 error, 0 warnings\n"))
    }

    @Test("tandem doctor leaves out loopback and link-local addresses")
    func addresses() {
        var facts = MachineFacts()
        for text in [
            "127.0.0.1", "169.254.7.8", "169.25.4.1", "192.0.2.7", "::1", "fe80::1", "febf::1", "fec0::1",
            "2001:db8::1",
        ] {
            facts.add(address: text)
        }
        #expect(facts.addresses4 == ["169.25.4.1", "192.0.2.7"] && facts.addresses6 == ["fec0::1", "2001:db8::1"])
    }

    @Test("tandem doctor reads the CPU quota from the files of cgroup versions 1 and 2; it is nil if there is none")
    func quotas() {
        #expect(
            MachineFacts.quota(cpuMax: "150000 100000\n") == 1500 && MachineFacts.quota(cpuMax: "max 100000\n") == nil)
        #expect(MachineFacts.quota(cpuMax: "") == nil && MachineFacts.quota(cpuMax: "1 0") == nil)
        #expect(MachineFacts.quota(microseconds: "-1\n", period: "100000\n") == nil)
        #expect(MachineFacts.quota(microseconds: "50000\n", period: "100000\n") == 500)
    }

    @Test("the addresses of tandem demo and one line each for OBS, ffmpeg and the browser fit in 80 columns")
    func demo() {
        let text = DemoText(
            control: "http://127.0.0.1:58081", viewer: "http://127.0.0.1:58080", rtmp: "rtmp://127.0.0.1:51935",
            whip: "http://127.0.0.1:58889/whip/live", output: "./tandem-demo"
        ).text
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        for line in [
            "  control   http://127.0.0.1:58081/\n", "  watch     http://127.0.0.1:58080/\n",
            "  OBS       server rtmp://127.0.0.1:51935/live  key anna\n",
            "  ffmpeg -re -i clip.mp4 -c copy -f flv rtmp://127.0.0.1:51935/live/anna\n",
            "  browser   http://127.0.0.1:58889/#key=anna\n",
        ] { #expect(text.contains(line), "\(line)") }
    }
}
