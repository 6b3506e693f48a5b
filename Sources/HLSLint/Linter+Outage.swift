import MediaTypes

/// A server that gives no answer at all, as while a worker is replaced by its successor.
///
/// For a short time that is told and is no finding: what counts is that the presentation goes on where it was. Segments and
/// parts, their numbers, names and times are held to what was seen before; what was asked for meanwhile is asked for again.
extension Linter {
    /// Nobody answered for a while.
    package struct Outage: Sendable, Hashable {
        /// Nanoseconds of the driver's clock.
        package let from: Int64
        package let duration: Int64

        /// One line for people.
        package func text(since start: Int64) -> String {
            func seconds(_ value: Int64) -> String { JSONValue.thousandths(value / 1_000_000).text }
            return "no answer for \(seconds(self.duration)) s at \(seconds(self.from &- start)) s\n"
        }
    }

    /// A request without an answer after this long was held by a server that is there.
    private static let longestHeld: Int64 = 30_000_000_000
    /// What is remembered of outages in a long run.
    private static let keptOutages = 1_000
    private static let retryPause: Int64 = 200_000_000

    /// Takes a reply that tells of no presentation because no server was there.
    ///
    /// - Returns: What to ask again, and not before when; `nil` for a reply that is to be judged.
    mutating func duringOutage(_ reply: LintReply, _ request: LintRequest) -> [LintRequest]? {
        let now = reply.receivedAt
        let isSilent = reply.status == 0 && !reply.isLocal && now &- reply.sentAt < Self.longestHeld
        guard isSilent else {
            if let since = self.silentSince, reply.status != 0, reply.sentAt >= since {
                if self.outages.count < Self.keptOutages {
                    self.outages.append(Outage(from: since, duration: now &- since))
                }
                self.silentSince = nil
            }
            return nil
        }
        guard !self.histories.isEmpty else { return nil }
        if self.silentSince == nil {
            self.silentSince = now
            for index in self.histories.indices {
                self.histories[index].awaySince = now
                self.histories[index].known = nil
                self.histories[index].claims = []
            }
        }
        guard now &- (self.silentSince ?? now) <= self.longestOutage else { return nil }
        var again = request
        again.notBefore = now &+ Self.retryPause
        switch request.purpose {
        case .entry: return nil
        // What had to be there up to then has had its time.
        case .probe, .retainedPart: return []
        case .playlist(let index):
            // It has ended, and its server with it.
            if self.histories[index].isEnded {
                self.histories[index].isSettled = true
                return []
            }
            // Another list was seen to end, which this one missed: nobody will answer any more.
            if self.histories.contains(where: \.isEnded) {
                self.histories[index].failures = Self.mostFailures
                return []
            }
            return [LintRequest(.playlist(index), self.histories[index].url, notBefore: again.notBefore)]
        case .multivariant, .map, .key, .segment, .part, .hint, .retainedSegment, .decoding: return [again]
        }
    }

    /// The first list after an outage has come: times that are waited for count from now on.
    mutating func resume(_ index: Int, _ reply: LintReply) {
        guard let since = self.histories[index].awaySince, reply.sentAt >= since else { return }
        let now = reply.receivedAt
        self.histories[index].awaySince = nil
        self.histories[index].segmentAt = now
        self.histories[index].edgeAt = now
        self.histories[index].isStalled = false
        self.histories[index].pace = nil
        self.histories[index].holds = []
        self.histories[index].slowInRow = 0
        self.histories[index].hintTimes = [:]
    }
}
