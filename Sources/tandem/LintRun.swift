import HLSLint
import MediaTypes
import Threading

/// Runs the linter: carries out its requests when they are due, for the requested time.
struct LintRun {
    /// Maximum number of media objects fetched at once: enough for all renditions, few enough not to overload a server.
    private static let fetchedAtOnce = 8
    /// Number of segments that wait for the decoder from which further segments of a live presentation are not decoded;
    /// other presentations are then read more slowly.
    private static let decodedAtOnce = 4
    /// Nanoseconds that outstanding requests may take after the end of the run.
    private static let grace: Int64 = 5 * TimeMath.nanoseconds

    private enum Arrival: Sendable {
        case reply(LintRequest, LintReply)
        case decoded(LintRequest, LintReply)
        /// The object was not fetched, because the run ended first.
        case dropped
        case tick
    }

    let fetcher: LintFetcher
    /// Called at once with new findings, and about once a second without findings.
    let progress: (Linter, [Finding]) -> Void
    private let clock = SystemClock()

    init(fetcher: LintFetcher, progress: @escaping (Linter, [Finding]) -> Void) {
        self.fetcher = fetcher
        self.progress = progress
    }

    /// Runs the linter for the given time and returns it with its findings.
    ///
    /// - Parameters:
    ///   - linter: A linter that has not begun.
    ///   - seconds: Duration of the run; a presentation that ends stops it earlier.
    func run(_ linter: consuming Linter, seconds: Int64) async -> Linter {
        var linter = linter
        let start = self.clock.now()
        let deadline = start + seconds * TimeMath.nanoseconds
        var backlog: [LintRequest] = linter.begin(at: start)
        var next = backlog.startIndex
        var fetching = 0
        var decoding = 0
        var told = 0
        let fetcher = self.fetcher
        let decoder = LintDecoder()
        await withTaskGroup(of: Arrival.self) { group in
            group.addTask { await Self.tick() }
            while true {
                while fetching < Self.fetchedAtOnce, next < backlog.endIndex,
                    linter.isLive || decoding < Self.decodedAtOnce
                {
                    let request = backlog[next]
                    next += 1
                    fetching += 1
                    group.addTask { await Self.carryOut(request, fetcher) }
                }
                if next == backlog.endIndex {
                    backlog.removeAll(keepingCapacity: true)
                    next = backlog.startIndex
                }
                guard let arrival = await group.next() else { break }
                let now = self.clock.now()
                switch arrival {
                case .dropped: continue
                case .tick:
                    self.progress(linter, [])
                    group.addTask { await Self.tick() }
                case .decoded(let request, let reply):
                    decoding -= 1
                    _ = linter.received(reply, for: request)
                case .reply(let request, let reply):
                    if !request.isPoll { fetching -= 1 }
                    for request in linter.received(reply, for: request) {
                        if let samples = request.samples {
                            guard decoding < Self.decodedAtOnce || !linter.isLive else { continue }
                            decoding += 1
                            group.addTask { await Self.decode(request, samples, decoder) }
                        } else if !request.isPoll {
                            backlog.append(request)
                        } else if now < deadline {
                            group.addTask { await Self.carryOut(request, fetcher) }
                        }
                    }
                }
                if linter.findings.count > told {
                    self.progress(linter, Array(linter.findings[told...]))
                    told = linter.findings.count
                }
                let isQuiet = fetching == 0 && decoding == 0 && next == backlog.endIndex
                if isQuiet, now >= deadline || linter.isEnded || linter.playlistCount == 0 { break }
                if now >= deadline + Self.grace { break }
            }
            group.cancelAll()
        }
        linter.finish(at: self.clock.now())
        self.progress(linter, Array(linter.findings.dropFirst(told)))
        return linter
    }

    private static func tick() async -> Arrival {
        try? await Task.sleep(nanoseconds: 1_000_000_000)
        return .tick
    }

    private static func decode(_ request: LintRequest, _ samples: LintSamples, _ decoder: LintDecoder) async -> Arrival
    {
        let sentAt = SystemClock().now()
        let damage = await decoder.damage(in: samples)
        return .decoded(
            request, LintReply(status: 200, failure: damage, sentAt: sentAt, receivedAt: SystemClock().now()))
    }

    private static func carryOut(_ request: LintRequest, _ fetcher: LintFetcher) async -> Arrival {
        let pause = request.notBefore &- SystemClock().now()
        if pause > 0 { try? await Task.sleep(nanoseconds: UInt64(pause)) }
        guard !Task.isCancelled else { return .dropped }
        return .reply(request, await fetcher.fetch(request))
    }
}
