import HLS
import HLSLint

/// A fault in the presentation: each hook may change one thing. Times are nanoseconds since the start of the room.
struct Fault: Sendable {
    struct Context: Sendable {
        let list: String
        let at: Int64
        /// The text of that many versions before.
        let earlier: @Sendable (Int) -> String
        var isLate: Bool { self.at > 40_000_000_000 }
    }

    var rule: Rule?
    var text: @Sendable (String, Context) -> String = { text, _ in text }
    var multivariant: @Sendable (String, Int64) -> String = { text, _ in text }
    /// Name and bytes.
    var object: @Sendable (String, [UInt8]) -> [UInt8] = { $1 }
    /// Delay of a version.
    var delay: @Sendable (String, Int64) -> Int64 = { _, _ in 0 }
    /// Whole replies: path with query, whether it is listed now (for the rules about that), and the reply.
    var reply: @Sendable (String, Bool, LintReply) -> LintReply = { $2 }
    var ignoresWaiting = false
    var ignoresSkip = false
}

/// Plays a script to the linter without real time: each request is answered as by the real server at that time.
struct ScriptServer {
    static let base = "http://room/live/"

    let script: Script
    let fault: Fault

    /// - Parameters:
    ///   - start: When the linter starts, in nanoseconds since the start of the room.
    ///   - rest: Nanoseconds for which it runs on after the fault's rule was found; nil: to the end of the room.
    func run(entry: String = "index.m3u8", start: Int64 = 10_000_000_000, rest: Int64? = nil) -> Linter {
        var linter = Linter(url: Self.base + entry, decodes: true, cipher: { bytes, _, _, _ in bytes })
        var inbox: [(request: LintRequest, reply: LintReply)] = []
        func send(_ requests: [LintRequest], _ now: Int64) {
            for request in requests {
                inbox.append((request, self.answer(request, at: max(now, request.notBefore))))
            }
        }
        send(linter.begin(at: start), start)
        var steps = 0
        var deadline = self.script.end + 10_000_000_000
        while !linter.isEnded, steps < 200_000,
            let next = inbox.indices.min(by: { inbox[$0].reply.receivedAt < inbox[$1].reply.receivedAt })
        {
            let (request, reply) = inbox.remove(at: next)
            guard reply.receivedAt < deadline else { break }
            let known = linter.findings.count
            send(linter.received(reply, for: request), reply.receivedAt)
            if let rest, linter.findings.dropFirst(known).contains(where: { $0.rule == self.fault.rule }) {
                deadline = min(deadline, reply.receivedAt + rest)
            }
            steps += 1
        }
        linter.finish(at: self.script.end)
        return linter
    }

    private func answer(_ request: LintRequest, at sentAt: Int64) -> LintReply {
        if let samples = request.samples {
            return LintReply(status: 200, failure: Self.damage(samples), sentAt: sentAt, receivedAt: sentAt)
        }
        let path = String(request.url.dropFirst(Self.base.count))
        let pieces = path.split(separator: "?", maxSplits: 1).map(String.init)
        let name = pieces.first ?? ""
        let query = (pieces.count > 1 ? pieces[1] : "").split(separator: "&").map { pair in
            let both = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return (name: both[0], value: both.count > 1 ? both[1] : "")
        }
        var reply: LintReply
        if name == "index.m3u8" {
            let text = self.fault.multivariant(self.script.multivariant, sentAt)
            reply = self.playlist(text, "max-age=2", sentAt, sentAt)
        } else if let versions = self.script.versions[name] {
            reply = self.media(name, versions, ReloadDirectives(query: query), sentAt)
        } else {
            reply = Self.part(request.range, of: self.object(name, sentAt))
        }
        let needsListing = self.fault.rule == .segmentGone || self.fault.rule == .partGone
        let isListed = needsListing && Script.lists.contains { self.current($0, sentAt)?.full.contains(name) == true }
        reply = self.fault.reply(path, isListed, reply)
        // A millisecond of network delay.
        reply.receivedAt = max(reply.receivedAt, sentAt) + 1_000_000
        return reply
    }

    /// Replaces a decoder: in the script's frames every byte is one more than the one before.
    private static func damage(_ samples: LintSamples) -> String? {
        for (place, range) in samples.samples.enumerated() {
            let payload = samples.bytes[range].dropFirst(5)
            if zip(payload, payload.dropFirst()).contains(where: { $1 != $0 &+ 1 }) {
                return "frame \(place) of \(samples.samples.count) cannot be decoded"
            }
        }
        return nil
    }

    private static func part(_ range: (start: Int64, count: Int64)?, of reply: LintReply) -> LintReply {
        guard let range, reply.status == 200 else { return reply }
        var part = reply
        part.status = 206
        part.body = Array(reply.body.dropFirst(Int(range.start)).prefix(Int(range.count)))
        return part
    }

    private func time(_ version: Script.Version, _ name: String) -> Int64 {
        version.at + self.fault.delay(name, version.at)
    }

    private func current(_ name: String, _ now: Int64) -> Script.Version? {
        self.script.versions[name]?.last { self.time($0, name) <= now }
    }

    private func media(
        _ name: String, _ versions: [Script.Version], _ directives: ReloadDirectives, _ sentAt: Int64
    ) -> LintReply {
        var index = versions.lastIndex { self.time($0, name) <= sentAt } ?? 0
        var now = max(sentAt, self.time(versions[index], name))
        waiting: while !self.fault.ignoresWaiting {
            switch versions[index].playlist.position.decide(directives, advancePartLimit: 6) {
            case .serve: break waiting
            case .refuse: return LintReply(status: 400, sentAt: sentAt, receivedAt: sentAt)
            case .hold:
                guard index + 1 < versions.count else { break waiting }
                index += 1
                now = max(now, self.time(versions[index], name))
            }
        }
        let at = index
        let context = Fault.Context(list: name, at: versions[at].at) { versions[max(0, at - $0)].full }
        let text = directives.skips && !self.fault.ignoresSkip ? versions[at].delta : versions[at].full
        return self.playlist(self.fault.text(text, context), "max-age=1", sentAt, now)
    }

    private func playlist(_ text: String, _ caching: String, _ sentAt: Int64, _ now: Int64) -> LintReply {
        LintReply(
            status: 200,
            headers: [
                "content-type": "application/vnd.apple.mpegurl", "content-encoding": "gzip", "cache-control": caching,
            ], body: Array(text.utf8), sentAt: sentAt, receivedAt: now)
    }

    private func object(_ name: String, _ sentAt: Int64) -> LintReply {
        let isHinted = Script.lists.contains { list in
            self.current(list, sentAt)?.playlist.edge?.hint == name
        }
        guard let object = self.script.objects[name], object.from <= sentAt || isHinted, sentAt < object.until else {
            return LintReply(status: 404, sentAt: sentAt, receivedAt: sentAt)
        }
        return LintReply(
            status: 200,
            headers: [
                "content-type": name.hasPrefix("audio") ? "audio/mp4" : "video/mp4",
                "cache-control": "public, max-age=31536000, immutable",
            ], body: self.fault.object(name, object.bytes), sentAt: sentAt, receivedAt: max(sentAt, object.from))
    }
}
