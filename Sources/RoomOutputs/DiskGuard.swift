import Events
package import MediaTypes
package import Packager

/// Decides what a room stops writing as its disk fills, and when alarms are raised. The live playlists keep their space
/// longest.
///
/// Each file system is measured separately, and all of them together against the limit of the pipeline. The alarm
/// reports the fullest one; outputs on a full one are stopped.
///
/// | share of the room's capacity that is used | |
/// |---|---|
/// | 80 % | alarm `alert_2`, cleared below 75 % |
/// | 95 %, or a write that found no space | alarm `alert_3`, window limited, recording stopped; until below 80 % |
///
/// A recording keeps segments that have left the window, and the files written at the end of the room take as much
/// space again. It therefore stops earlier: when those files and a limited window would no longer fit. It resumes, with
/// a hole, when the files and two windows fit below 80 % and writing works. The recording itself frees none of that
/// space, so it does not alternate between the two. Attempts that record nothing are repeated at growing intervals.
/// Writes that fail for another reason do not limit the window as long as memory holds the segments that no file has.
package struct DiskGuard: Sendable {
    /// The alarm levels.
    package enum Level: Int, CaseIterable, Comparable, ReplyValue, Sendable {
        case normal, low, critical

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        package var name: String {
            switch self {
            case .normal: "normal"
            case .low: "alert_2"
            case .critical: "alert_3"
            }
        }

        package static var replyShape: JSONShape { .words(Self.allCases.map(\.name)) }
        package var replyValue: JSONValue { .string(self.name) }

        /// Percent.
        var threshold: Int { self == .critical ? DiskGuard.criticalPercent : DiskGuard.lowPercent }
    }

    package struct Reading: Sendable, Hashable {
        /// Bytes.
        package var used: Int64
        /// Most bytes that the room can use: its limit, or its files on a file system plus the free space there.
        package var capacity: Int64
        /// A directory on that file system; `nil` for the limit of the pipeline.
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

        /// Bytes left, at least 0.
        package var free: Int64 { max(0, self.rest) }

        /// The directory, or the name of the limit, for messages.
        package var place: String { self.path ?? "limits.maxDiskBytes" }

        package var percent: Int {
            self.capacity > 0
                ? Int(clamping: TimeMath.scale(max(0, self.used), by: 100, over: self.capacity, rounding: .down)) : 100
        }

        var rest: Int64 { self.capacity &- self.used }

        /// Compares the used shares without rounding.
        func isFuller(than other: Reading) -> Bool {
            guard self.capacity > 0, other.capacity > 0 else { return self.capacity <= 0 && other.capacity > 0 }
            let mine = max(0, self.used).multipliedFullWidth(by: other.capacity)
            let theirs = max(0, other.used).multipliedFullWidth(by: self.capacity)
            return (mine.high, mine.low) > (theirs.high, theirs.low)
        }
    }

    /// The space that must stay free next to a recording.
    package struct Need: Sendable, Hashable {
        /// Bytes of a limited window.
        package var window: Int64
        /// Bytes of the files made of the recording.
        package var movies: Int64
        /// Number of recorded segments.
        package var slots: Int

        package init(window: Int64, movies: Int64 = 0, slots: Int = 0) {
            self.window = window
            self.movies = movies
            self.slots = slots
        }
    }

    /// A file system, or the limit, and the kinds of files on it.
    private struct Share {
        let purpose: DiskUse.Purpose
        let reading: Reading

        /// Bytes of a limited window on it.
        func window(_ need: Need) -> Int64 { self.purpose.contains(.live) ? need.window : 0 }

        /// Whether the files of the recording and a limited window still fit. At least a quarter of the capacity is
        /// available to the recording, however large the window is.
        func holds(_ need: Need) -> Bool {
            let window = min(self.window(need), self.reading.capacity / 4 * 3)
            return self.reading.rest &- window >= need.movies
        }

        /// Whether a stopped recording may resume.
        func holdsMore(than need: Need) -> Bool {
            let windows = min(self.window(need), self.reading.capacity / 16 * 7) &* 2
            return self.reading.percent < DiskGuard.criticalClearsBelow && self.reading.rest &- windows >= need.movies
        }
    }

    package enum Action: Sendable, Hashable {
        case alarm(Level, was: Level, Reading)
        /// Writing began to fail for a reason other than space, or works again.
        case stalled(Bool, reason: String)
        case limitWindow(Bool)
        case stopRecording(Reading)
        /// There is enough space for the recording again.
        case resumeRecording
    }

    /// What was stopped for lack of space.
    package enum Stopped: String, CaseIterable, ReplyValue, Sendable {
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
    /// How long a write that found no space counts, whatever is measured: quotas and inodes are not measured.
    private static let refusal: Int64 = 10_000_000_000
    /// Time between two attempts at recording. It doubles as long as none of them records anything, so that a permanent
    /// failure is not retried six times a minute.
    private static let shortestStop: Int64 = 10_000_000_000
    private static let longestStop: Int64 = 600_000_000_000

    /// Bytes; `nil`: limited by the disk only.
    let limit: Int64?
    package private(set) var level = Level.normal
    private(set) var last = Reading(used: 0, capacity: 0)
    /// Whether clips are refused. The segments held for them lie next to the live playlists; the clips may lie on
    /// another disk.
    package private(set) var isFullForClips = false
    /// Whether the live playlists lack space.
    private var isShort = false
    private var isLimited = false
    /// Whether recording and live playlists are on one file system.
    private var isShared = true
    /// When the recording stopped, or last failed to resume, in nanoseconds; `nil`: it runs, or there is none.
    private var recordingStoppedAt: Int64?
    /// Delay of the next attempt, and the number of segments recorded before the last one.
    private var pause = DiskGuard.shortestStop
    private var recordedSlots = 0
    /// Until when a write that found no space counts, in nanoseconds.
    private var refusedUntil: Int64?
    /// The file system of the live files, as last measured.
    private var live: DiskUse.Volume?
    /// The kinds of files on all file systems.
    private var purposes: DiskUse.Purpose = []
    /// When writing began to fail, in nanoseconds.
    private var failsSince: Int64?

    /// What is stopped now, in the order of the cases.
    package var stopped: [Stopped] {
        Stopped.allCases.filter { stopped in
            switch stopped {
            case .recording: self.recordingStoppedAt != nil && self.purposes.contains(.recording)
            case .window: self.isLimited
            case .clips: self.isFullForClips && self.purposes.contains(.clips)
            }
        }
    }

    /// The text of the alarm: the directory, its free space, and what was stopped.
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

    /// Whether writing the live playlists fails for a reason other than space.
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

    /// Records a failed write of the live playlists.
    ///
    /// - Parameter free: Bytes free on their file system now, because the last measurement may be old; `nil`: not
    ///   known.
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

    /// Records that the recording has stopped, for any reason, or could not resume.
    package mutating func recordingStopped(at now: Int64) { self.recordingStoppedAt = now }

    /// Records that another recording begins; failures of the previous one no longer count.
    package mutating func recordingBegan() { (self.recordingStoppedAt, self.pause) = (nil, Self.shortestStop) }

    private mutating func resumeRecording(_ places: [Share], _ need: Need, at now: Int64) -> [Action] {
        guard let stopped = self.recordingStoppedAt, now &- stopped >= self.pause, self.failsSince == nil,
            self.refusedUntil == nil || !self.isShared, places.allSatisfy({ $0.holdsMore(than: need) })
        else { return [] }
        self.recordingStoppedAt = nil
        self.pause = min(self.pause * 2, Self.longestStop)
        return [.resumeRecording]
    }

    /// Limits the window, or lifts the limit, as the current state requires.
    private mutating func settle(at now: Int64) -> [Action] {
        let isLimited = self.isShort || self.failsSince.map { now &- $0 > Self.longestStall } ?? false
        guard isLimited != self.isLimited else { return [] }
        self.isLimited = isLimited
        return [.limitWindow(isLimited)]
    }
}
