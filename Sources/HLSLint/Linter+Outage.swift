import MediaTypes

/// Handling of outages, during which a server does not reply at all, for example while a worker is replaced.
///
/// A short outage is reported but is not a finding, as long as the presentation then continues where it was. The
/// numbers, names and times of segments and parts are compared with those from before the outage, and requests that
/// failed meanwhile are repeated.
extension Linter {
    /// A period in which the server did not reply.
    package struct Outage: Sendable, Hashable {
        /// Start of the outage: nanoseconds of the driver's clock.
        package let from: Int64
        /// Duration in nanoseconds.
        package let duration: Int64

        /// Returns one line of text about the outage.
        package func text(since start: Int64) -> String {
            func seconds(_ value: Int64) -> String { JSONValue.thousandths(value / 1_000_000).text }
            return "no answer for \(seconds(self.duration)) s at \(seconds(self.from &- start)) s\n"
        }
    }

    /// Nanoseconds after which a request without reply does not count as an outage: a running server has held it.
    private static let longestHeld: Int64 = 30_000_000_000
    /// Maximum number of outages that are stored in a long run.
    private static let keptOutages = 1_000
    private static let retryPause: Int64 = 200_000_000

    /// Handles a request that failed because no server was running.
    ///
    /// - Returns: The requests to repeat later; `nil` if the reply must be checked normally.
    mutating func duringOutage(_ reply: LintReply, _ request: LintRequest) -> [LintRequest]? {
        let isSilent = reply.status == 0 && !reply.isLocal && self.now &- reply.sentAt < Self.longestHeld
        guard isSilent else {
            if let since = self.silentSince, reply.status != 0, reply.sentAt >= since {
                if self.outages.count < Self.keptOutages {
                    self.outages.append(Outage(from: since, duration: self.now &- since))
                }
                self.silentSince = nil
            }
            return nil
        }
        guard !self.histories.isEmpty else { return nil }
        if self.silentSince == nil {
            self.silentSince = self.now
            for index in self.histories.indices {
                self.histories[index].awaySince = self.now
                self.histories[index].known = nil
                self.histories[index].claims = []
            }
        }
        guard self.now &- (self.silentSince ?? self.now) <= self.longestOutage else { return nil }
        var again = request
        again.notBefore = self.now &+ Self.retryPause
        switch request.purpose {
        case .entry: return nil
        // Not repeated: a probe is not important, and the retention time of a part has passed meanwhile.
        case .probe, .retainedPart: return []
        case .playlist(let index):
            // The playlist has ended, so its server may have stopped.
            if self.histories[index].isEnded {
                self.histories[index].isSettled = true
                return []
            }
            // Another playlist has ended, so the server has stopped before the end of this one was read.
            if self.histories.contains(where: \.isEnded) {
                self.histories[index].failures = Self.mostFailures
                return []
            }
            return [LintRequest(.playlist(index), self.histories[index].url, notBefore: again.notBefore)]
        case .multivariant, .map, .key, .segment, .part, .hint, .retainedSegment, .decoding: return [again]
        }
    }

    /// Restarts all timers of a playlist with its first version after an outage.
    mutating func resume(_ index: Int, _ reply: LintReply) {
        guard let since = self.histories[index].awaySince, reply.sentAt >= since else { return }
        self.histories[index].awaySince = nil
        self.histories[index].segmentAt = self.now
        self.histories[index].edgeAt = self.now
        self.histories[index].isStalled = false
        self.histories[index].pace = nil
        self.histories[index].holds = []
        self.histories[index].slowInRow = 0
        self.histories[index].hintTimes = [:]
    }
}
