/// Checks that a live presentation keeps up with real time. Spec: rfc8216bis §6.2.1, §6.2.5.2.
extension Linter {
    /// Number of consecutive blocking reloads that, if all are late by more than ``smallLateness``, are a finding.
    private static let lateAnswers = 8
    /// Delay in nanoseconds of a blocking reload that is a finding only if it occurs repeatedly.
    private static let smallLateness: Int64 = 250_000_000
    /// Number of consecutive segments that, if all take longer to receive than their duration, are a finding.
    private static let slowSegments = 4
    /// Number of target durations for which a playlist that was live is read again after its end.
    private static let readsOfEnd: Int64 = 3

    // MARK: The end

    /// Notes whether a playlist has ended. If it was live, it is read for a while after that, to detect an end that is
    /// revoked.
    mutating func noteEnd(_ list: MediaList, _ index: Int) {
        guard list.isEnded else {
            self.histories[index].endedAt = nil
            self.histories[index].wasLive = true
            return
        }
        guard let since = self.histories[index].endedAt else {
            self.histories[index].endedAt = self.now
            return
        }
        let wait = self.histories[index].wasLive ? Self.readsOfEnd &* list.targetDuration : 0
        self.histories[index].isSettled = self.now &- since >= wait
    }

    // MARK: Listed media against the clock

    /// Checks that the listed media keeps up with wall-clock time, because otherwise players' buffers shrink.
    mutating func checkPace(_ list: MediaList, _ index: Int) {
        guard !list.isIFramesOnly, let pace = self.histories[index].pace, pace.next >= list.mediaSequence else {
            self.histories[index].pace = (least: self.now, listed: 0, next: list.nextNumber)
            return
        }
        let listed = list.segments.reduce(pace.listed) { $1.number >= pace.next ? $0 &+ $1.duration : $0 }
        let ahead = self.now &- listed
        let least = min(pace.least, ahead)
        self.histories[index].pace = (least: least, listed: listed, next: list.nextNumber)
        guard ahead &- least > list.targetDuration &+ Self.timingSlack, !self.histories[index].isSlow else { return }
        self.histories[index].isSlow = true
        self.add(
            .updateSlow,
            "\(Self.seconds(listed)) of media were listed, \(Self.seconds(ahead &- least)) less than the elapsed time",
            index, segment: list.nextNumber &- 1)
    }

    /// Checks that a listed segment is received in less time than its duration: a finding is one that takes
    /// ``timingSlack`` longer, or the fourth consecutive one that takes longer.
    mutating func checkSpeed(_ reply: LintReply, _ record: PlaylistHistory.Record, _ index: Int) {
        // Segments of the first playlist version are all fetched at the same time, so they are not checked.
        guard !reply.isLocal, record.listed.number >= self.histories[index].joinedNext ?? .max else { return }
        let took = reply.receivedAt &- reply.sentAt
        let late = took &- record.listed.duration
        self.histories[index].slowInRow = late > 0 ? self.histories[index].slowInRow + 1 : 0
        guard late > Self.timingSlack || self.histories[index].slowInRow == Self.slowSegments else { return }
        self.add(
            .segmentSlow,
            "its \(reply.body.count) bytes took \(Self.seconds(took)), it lasts \(Self.seconds(record.listed.duration))",
            index, segment: record.listed.number)
    }

    // MARK: Blocking reloads

    /// Checks that a blocking reload is answered as soon as the requested part is available: when the hinted part has
    /// arrived, or another playlist reports it.
    mutating func checkHold(_ list: MediaList, _ index: Int, _ request: LintRequest, _ reply: LintReply) {
        guard let asked = request.asked, !list.isEnded, !reply.isLocal, list.edge >= asked else { return }
        let segment = list.open?.number == asked.number ? list.open : list.segments.last { $0.number == asked.number }
        var since = self.histories[index].claims.lazy.filter { $0.edge >= asked }.map(\.at).min()
        if let parts = segment?.parts, let place = Int(exactly: asked.part), parts.indices.contains(place),
            let came = self.histories[index].hintTimes.removeValue(forKey: parts[place].uri)
        {
            since = min(since ?? came, came)
        }
        guard let since else {
            self.histories[index].holds = []
            return
        }
        let late = reply.receivedAt &- max(since, reply.sentAt)
        self.histories[index].holds = self.histories[index].holds.suffix(Self.lateAnswers - 1) + [late]
        let holds = self.histories[index].holds
        let isAlwaysLate = holds.count == Self.lateAnswers && holds.allSatisfy { $0 > Self.smallLateness }
        guard isAlwaysLate || late > (list.partTarget ?? 0) &+ Self.timingSlack else { return }
        self.add(
            .reloadLate,
            "\(Self.query(request.url)) is answered \(Self.seconds(late)) after the part was available", index,
            segment: asked.number, part: Int(exactly: asked.part))
        self.histories[index].holds = []
    }

    /// Notes the time at which a hinted part was completely received.
    mutating func noteHint(_ uri: String, _ index: Int) {
        if self.histories[index].hintTimes.count >= 64 { self.histories[index].hintTimes = [:] }
        self.histories[index].hintTimes[uri] = self.now
    }
}
