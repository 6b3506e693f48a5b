import ArgumentParser
import AsyncHTTPClient
import HLSLint
import LibAV
import MediaTypes

struct LintHLSCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint-hls",
        abstract: "Check an HLS presentation as a client: updates, parts, media, renditions, headers.",
        discussion: """
            Reads the playlists as players do (with blocking reloads, preload hints and delta updates if the server
            offers them), fetches every listed initialization segment, segment and part, and decodes the H.264 segments
            (of a live presentation as many as there is time for). It compares each playlist with earlier versions, and
            checks everything against rfc8216bis and Apple's authoring specification. It works with any presentation,
            not only Tandem's. A path reads a directory instead of a server, without the rules about HTTP.

                tandem lint-hls http://127.0.0.1:8080/index.m3u8 --duration 60
                tandem lint-hls /var/lib/tandem/room/index.m3u8
                tandem lint-hls https://example.com/live/video.m3u8 --json > report.json

            A finding contains its rule, the clause that it is based on, the playlist, segment and part, what is wrong
            and how to fix it. A longer run finds more: sums of durations, averages and the time that segments stay
            available need minutes. A presentation that has ended is read once.

                tandem lint-hls --rules

            Exit codes: 0 no findings · 65 findings · 66 no such file · 69 no answer from the server · 74 standard
            output cannot be written completely.
            """)

    @Argument(help: ArgumentHelp("A multivariant or media playlist: http(s) URL or path.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("Watch a live presentation for this long.", valueName: "seconds"))
    var duration: Int64 = 30

    @Option(
        help: ArgumentHelp(
            "How long the server may be unreachable, as while a worker is replaced; a longer time is a finding.",
            valueName: "seconds"))
    var outage: Int64 = 5

    @Flag(help: "Print the report as one JSON document.")
    var json = false

    @Flag(help: "List all rules with their clauses and remedies, and exit.")
    var rules = false

    func run() async throws {
        if self.rules {
            for rule in Rule.allCases {
                try StandardOutput.write("\(rule.rawValue) (\(rule.entry.clause)): \(rule.entry.remedy)\n")
            }
            return
        }
        guard let url = self.url else { throw ValidationError("give the URL or path of a playlist") }
        guard (1...604_800).contains(self.duration) else {
            throw ValidationError("--duration \(self.duration): give 1 to 604800 seconds")
        }
        guard (0...3_600).contains(self.outage) else {
            throw ValidationError("--outage \(self.outage): give 0 to 3600 seconds")
        }
        if url.contains("://"), !Location.isRemote(url) {
            throw ValidationError("\(url): give an http or https URL, or a path")
        }
        try ProcessStart.checkClient()
        let isJSON = self.json
        let linter: Linter
        do {
            linter = try await HTTPClient.withHTTPClient(configuration: LintFetcher.configuration) { client in
                await LintRun(fetcher: LintFetcher(client: client)) { Self.show($0, $1, isJSON: isJSON) }
                    .run(
                        Linter(
                            url: url, longestOutage: self.outage * TimeMath.nanoseconds, decodes: true,
                            cipher: {
                                $3
                                    ? BlockCipher.opened($0, key: $1, vector: $2)
                                    : BlockCipher.openedBlocks($0, key: $1, vector: $2)
                            }), seconds: self.duration)
            }
        } catch {
            throw ExitStatus.bug.code
        }
        if isJSON { try StandardOutput.write(linter.report.text + "\n") } else { try Self.show(linter) }
        if linter.isEmpty {
            StandardError.write(
                "\(url): no playlist was read. Fix: check the address, and whether the room or server runs\n")
            throw (Location.isRemote(url) ? ExitStatus.unavailable : ExitStatus.fileMissing).code
        }
        if linter.findingCount > 0 { throw ExitStatus.pipelineInvalid.code }
    }

    private static func show(_ linter: Linter, _ findings: [Finding], isJSON: Bool) {
        if !isJSON { for finding in findings { StandardOutput.tell(finding.text(since: linter.startedAt)) } }
        guard StandardError.isTerminal else { return }
        StandardError.write(
            "\r\u{1b}[2K\(linter.playlistCount) playlists, \(linter.segmentCount) segments, \(linter.partCount) parts, "
                + "\(linter.findingCount) findings")
    }

    private static func show(_ linter: Linter) throws {
        if StandardError.isTerminal { StandardError.write("\r\u{1b}[2K") }
        for line in linter.summary {
            try StandardOutput.write(
                "\(line.playlist): \(line.segments) segments, \(line.parts) parts, peak \(line.peak / 1_000) kbit/s, "
                    + "average \(line.average / 1_000) kbit/s\n")
        }
        for outage in linter.outages { try StandardOutput.write(outage.text(since: linter.startedAt)) }
        let hidden = linter.findingCount - linter.findings.count
        try StandardOutput.write(
            linter.findingCount == 0
                ? "no findings\n"
                : "\(linter.findingCount) findings\(hidden > 0 ? ", \(hidden) of them repeated" : "")\n")
    }
}
