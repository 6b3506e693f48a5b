import MediaTypes
package import Packager

/// Decides what is given up as a room's disk fills, and when it is told: the space of the live playlists is the last to go.
///
/// Each file system counts for itself, and all of them together against the limit. The alarm is the fullest one's; what is
/// given up is what lies on one that is full.
///
/// | taken of what the room may take | |
/// |---|---|
/// | 80 % | alarm `alert_2`, cleared below 75 % |
/// | 95 %, or a write that found no space | alarm `alert_3`; the window is limited, the recording stops. Space is back below 80 % |
///
/// A recording holds what the window lets go, and its files take as much again when the room is over, so it stops earlier: where
/// these and a limited window would not find room beside it. Where there is room again for them and two windows below 80 %, and
/// writing works, it goes on behind a hole: nothing of its own makes that room, so it does not go to and fro. What does not come to
/// record anything is tried less and less often.
/// Writes that fail for another reason leave the window alone as long as memory holds what no file has.
package struct DiskGuard: Sendable {
    /// The words of the alarm levels.
    package enum Level: Int, Comparable, Sendable {
        case normal, low, critical

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        package var name: String {
            switch self {
            case .normal: "normal"
            case .low: "alert_2"
            case .critical: "alert_3"
            }
        }

        /// Percent.
        var threshold: Int { self == .critical ? DiskGuard.criticalPercent : DiskGuard.lowPercent }
    }

    package struct Reading: Sendable, Hashable {
        /// Bytes.
        package var used: Int64
        /// What the room may take: its limit, or what it has on a file system and what that still gives.
        package var capacity: Int64
        /// A directory on that file system; `nil`: the limit of the pipeline.
        package var path: String?

        package init(used: Int64, capacity: Int64, path: String? = nil) {
            self.used = used
            self.capacity = capacity
            self.path = path
        }

        init(_ volume: DiskUse.Volume, free: Int64) {
            let whole = volume.used.addingReportingOverflow(free)
            self.init(
                used: volume.used, capacity: whole.overflow ? .max : whole.partialValue,
                path: volume.path.isEmpty ? nil : volume.path)
        }

        /// Bytes that are left: 0 or more.
        package var free: Int64 { max(0, self.rest) }

        /// Where it is, for people.
        package var place: String { self.path ?? "limits.maxDiskBytes" }

        package var percent: Int {
            self.capacity > 0
                ? Int(clamping: TimeMath.scale(max(0, self.used), by: 100, over: self.capacity, rounding: .down)) : 100
        }

        var rest: Int64 { self.capacity &- self.used }

        /// By shares, without rounding.
        func isFuller(than other: Reading) -> Bool {
            guard self.capacity > 0, other.capacity > 0 else { return self.capacity <= 0 && other.capacity > 0 }
            let mine = max(0, self.used).multipliedFullWidth(by: other.capacity)
            let theirs = max(0, other.used).multipliedFullWidth(by: self.capacity)
            return (mine.high, mine.low) > (theirs.high, theirs.low)
        }
    }

    /// What is to find room beside a recording.
    package struct Need: Sendable, Hashable {
        /// Bytes that a limited window takes.
        package var window: Int64
        /// Bytes that the files made of the recording take.
        package var movies: Int64
        /// Slots that were recorded.
        package var slots: Int

        package init(window: Int64, movies: Int64 = 0, slots: Int = 0) {
            self.window = window
            self.movies = movies
            self.slots = slots
        }
    }

    /// What may fill, and what lies there.
    private struct Share {
        let purpose: DiskUse.Purpose
        let reading: Reading

        /// Bytes a limited window takes of it.
        func window(_ need: Need) -> Int64 { self.purpose.contains(.live) ? need.window : 0 }

        /// A recording there ends with its files made, and with a window beside it. However large that is, it may have a
        /// quarter.
        func holds(_ need: Need) -> Bool {
            let window = min(self.window(need), self.reading.capacity / 4 * 3)
            return self.reading.rest &- window >= need.movies
        }

        /// It may go on.
        func holdsMore(than need: Need) -> Bool {
            let windows = min(self.window(need), self.reading.capacity / 16 * 7) &* 2
            return self.reading.percent < DiskGuard.criticalClearsBelow && self.reading.rest &- windows >= need.movies
        }
    }

    package enum Action: Sendable, Hashable {
        case alarm(Level, was: Level, Reading)
        /// Writing fails for a reason other than space, or works again.
        case stalled(Bool, reason: String)
        case limitWindow(Bool)
        case stopRecording(Reading)
        /// There is room for it again.
        case resumeRecording
    }

    /// What is given up for want of space.
    package enum Stopped: String, Sendable, CaseIterable {
        /// The recording is suspended.
        case recording
        /// The window is limited.
        case window
        /// No clips are made.
        case clips
    }

    static let lowPercent = 80
    static let criticalPercent = 95
    private static let lowClearsBelow = 75
    private static let criticalClearsBelow = 80
    /// Memory holds 64 segments that no file has; segments are 1 s long and more.
    private static let longestStall: Int64 = 45_000_000_000
    /// A write that found no space counts for so long, whatever is measured: quotas and inodes are not.
    private static let refusal: Int64 = 10_000_000_000
    /// From one attempt at a recording to the next. It doubles as long as none records anything: what fails for good is not
    /// tried six times a minute.
    private static let shortestStop: Int64 = 10_000_000_000
    private static let longestStop: Int64 = 600_000_000_000

    /// Bytes; `nil`: what the disk gives.
    let limit: Int64?
    package private(set) var level = Level.normal
    private(set) var last = Reading(used: 0, capacity: 0)
    /// No clip is made: what it is made of is held beside the live playlists, and it may lie on a disk of its own.
    package private(set) var isFullForClips = false
    /// The live playlists have too little.
    private var isShort = false
    private var isLimited = false
    /// Recording and live playlists lie on one file system.
    private var isShared = true
    /// When the recording stopped, or last could not go on, in nanoseconds; `nil`: it runs, or there is none.
    private var recordingStoppedAt: Int64?
    /// How long the next attempt waits, and the slots that were recorded before the last.
    private var pause = DiskGuard.shortestStop
    private var recordedSlots = 0
    /// Until when a write that found no space counts, in nanoseconds.
    private var refusedUntil: Int64?
    /// The live files' file system as it was measured last.
    private var live: DiskUse.Volume?
    /// Everything that lies somewhere.
    private var purposes: DiskUse.Purpose = []
    /// When writing began to fail, in nanoseconds.
    private var failsSince: Int64?

    /// What is given up now, in the order of the words.
    package var stopped: [Stopped] {
        Stopped.allCases.filter { stopped in
            switch stopped {
            case .recording: self.recordingStoppedAt != nil && self.purposes.contains(.recording)
            case .window: self.isLimited
            case .clips: self.isFullForClips && self.purposes.contains(.clips)
            }
        }
    }

    /// The alarm for people: which directory, what it has free, and what was stopped.
    package var message: String {
        let reading = self.last
        let free = "\(reading.free) bytes are free"
        let what =
            self.refusedUntil == nil
            ? "\(reading.place): \(free) of \(reading.capacity)" : "\(reading.place): a write found no space, \(free)"
        let stopped = self.stopped.map { stopped in
            switch stopped {
            case .recording: "the recording is suspended"
            case .window: "the window is limited to \(HLSPackager.fewestSegments) segments"
            case .clips: "no clips are made"
            }
        }
        return stopped.isEmpty ? what : "\(what); \(stopped.joined(separator: ", "))"
    }

    /// Writing the live playlists fails, for another reason than space.
    package var isStalled: Bool { self.failsSince != nil }

    package init(limit: Int64?) { self.limit = limit }

    package mutating func measured(_ use: DiskUse, need: Need, at now: Int64) -> [Action] {
        let shares = self.shares(of: use)
        guard let fullest = Self.fullest(shares) else { return [] }
        self.last = fullest
        self.live = use.volumes.first { $0.purpose.contains(.live) }
        self.purposes = use.volumes.reduce(into: []) { $0.formUnion($1.purpose) }
        if need.slots != self.recordedSlots { (self.recordedSlots, self.pause) = (need.slots, Self.shortestStop) }
        self.isShared = use.volumes.contains { $0.purpose.isSuperset(of: [.live, .recording]) }
        let live = Self.fullest(shares.filter { $0.purpose.contains(.live) })
        let share = live?.percent ?? 0
        if let until = self.refusedUntil, now >= until { self.refusedUntil = nil }
        let isRefused = self.refusedUntil != nil
        self.isShort = isRefused || share >= (self.isShort ? Self.criticalClearsBelow : Self.criticalPercent)
        let clips = Self.fullest(shares.filter { !$0.purpose.isDisjoint(with: [.live, .clips]) })?.percent ?? 0
        self.isFullForClips =
            isRefused || clips >= (self.isFullForClips ? Self.criticalClearsBelow : Self.criticalPercent)
        var actions = self.move(
            to: isRefused ? .critical : Self.level(fullest.percent, after: self.level), fullest)
        let places = shares.filter { $0.purpose.contains(.recording) }
        let full = places.first { $0.reading.percent >= Self.criticalPercent || !$0.holds(need) }
        if let full { actions += self.stopRecording(full.reading, at: now) }
        return actions + self.settle(at: now) + self.resumeRecording(places, need, at: now)
    }

    private func shares(of use: DiskUse) -> [Share] {
        var shares = use.volumes.map { volume in
            Share(purpose: volume.purpose, reading: Reading(volume, free: volume.free))
        }
        if let limit = self.limit {
            shares.append(
                Share(purpose: [.live, .recording, .clips], reading: Reading(used: use.used, capacity: limit)))
        }
        return shares
    }

    private static func fullest(_ shares: [Share]) -> Reading? {
        shares.map(\.reading).max { $1.isFuller(than: $0) }
    }

    private static func level(_ percent: Int, after level: Level) -> Level {
        switch percent {
        case Self.criticalPercent...: .critical
        case Self.criticalClearsBelow...: level == .critical ? .critical : .low
        case Self.lowClearsBelow...: level == .normal ? .normal : .low
        default: .normal
        }
    }

    /// A write of the live playlists has failed.
    ///
    /// - Parameter free: Bytes that their file system has free now, since the last look may be long ago; `nil`: not known.
    package mutating func failed(isFull: Bool, reason: String, free: Int64? = nil, at now: Int64) -> [Action] {
        if isFull {
            if let free, let live = self.live { self.last = Reading(live, free: free) }
            (self.isShort, self.isFullForClips) = (true, true)
            self.refusedUntil = now &+ Self.refusal
            var actions = self.move(to: .critical, self.last)
            if self.isShared { actions += self.stopRecording(self.last, at: now) }
            return actions + self.settle(at: now)
        }
        guard self.failsSince == nil else { return self.settle(at: now) }
        self.failsSince = now
        return [.stalled(true, reason: reason)]
    }

    package mutating func written(at now: Int64) -> [Action] {
        guard self.failsSince.take() != nil else { return [] }
        return [.stalled(false, reason: "writing works again")] + self.settle(at: now)
    }

    private mutating func move(to level: Level, _ reading: Reading) -> [Action] {
        defer { self.level = level }
        return level == self.level ? [] : [.alarm(level, was: self.level, reading)]
    }

    private mutating func stopRecording(_ reading: Reading, at now: Int64) -> [Action] {
        guard self.recordingStoppedAt == nil else { return [] }
        self.recordingStoppedAt = now
        return [.stopRecording(reading)]
    }

    /// The recording has stopped, for whatever reason, or could not go on.
    package mutating func recordingStopped(at now: Int64) { self.recordingStoppedAt = now }

    /// Another recording begins: what became of the one before says nothing of it.
    package mutating func recordingBegan() { (self.recordingStoppedAt, self.pause) = (nil, Self.shortestStop) }

    private mutating func resumeRecording(_ places: [Share], _ need: Need, at now: Int64) -> [Action] {
        guard let stopped = self.recordingStoppedAt, now &- stopped >= self.pause, self.failsSince == nil,
            self.refusedUntil == nil || !self.isShared, places.allSatisfy({ $0.holdsMore(than: need) })
        else { return [] }
        self.recordingStoppedAt = nil
        self.pause = min(self.pause * 2, Self.longestStop)
        return [.resumeRecording]
    }

    /// The window follows what is known now.
    private mutating func settle(at now: Int64) -> [Action] {
        let isLimited = self.isShort || self.failsSince.map { now &- $0 > Self.longestStall } ?? false
        guard isLimited != self.isLimited else { return [] }
        self.isLimited = isLimited
        return [.limitWindow(isLimited)]
    }
}
