import Events
package import MediaTypes
package import Packager

/// Decides which outputs of a room stop writing as its disk fills, and when alarms are raised. The live playlists are
/// the last to be limited.
///
/// Each file system is measured separately, and the room's files on all of them together are compared with
/// `limits.maxDiskBytes`. The alarm reports the fullest of these; only the outputs on a full one are stopped or limited.
///
/// | share of the room's capacity that is used | |
/// |---|---|
/// | 80 % | alarm `alert_2`, cleared below 75 % |
/// | 95 %, or a write that found no space | alarm `alert_3`, window limited, recording stopped; until below 80 % |
///
/// A recording keeps segments that have left the window, and the files made at the end of the room need as much space
/// again. Therefore the recording stops earlier: when those files and a limited window would no longer fit. It resumes,
/// with a gap, when less than 80 % is used, the files and two windows fit, and writing works. Attempts that record
/// nothing are repeated at growing intervals. Writes that fail for another reason than space limit the window only after
/// 45 s, when memory can hold few more unwritten segments.
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

        /// The percentage of use at which the level is reached; for ``normal`` that of ``low``.
        var threshold: Int { self == .critical ? DiskGuard.criticalPercent : DiskGuard.lowPercent }
    }

    /// How full a file system, or the limit of the pipeline, is.
    package struct Reading: Sendable, Hashable {
        /// Bytes in use by the room.
        package var used: Int64
        /// Largest number of bytes that the room can use: the limit, or the room's files on a file system plus the free
        /// space there.
        package var capacity: Int64
        /// A directory on the file system; nil for the limit of the pipeline.
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

        /// Bytes that are still available, at least 0.
        package var free: Int64 { max(0, self.rest) }

        /// The directory, or the name of the limit, for messages.
        package var place: String { self.path ?? "limits.maxDiskBytes" }

        package var percent: Int {
            self.capacity > 0
                ? Int(clamping: TimeMath.scale(max(0, self.used), by: 100, over: self.capacity, rounding: .down)) : 100
        }

        var rest: Int64 { self.capacity &- self.used }

        /// Compares which share of the capacity is in use, without rounding.
        func isFuller(than other: Reading) -> Bool {
            guard self.capacity > 0, other.capacity > 0 else { return self.capacity <= 0 && other.capacity > 0 }
            let mine = max(0, self.used).multipliedFullWidth(by: other.capacity)
            let theirs = max(0, other.used).multipliedFullWidth(by: self.capacity)
            return (mine.high, mine.low) > (theirs.high, theirs.low)
        }
    }

    /// The space that must stay free while a recording continues, and how much is recorded.
    package struct Need: Sendable, Hashable {
        /// Bytes of a limited playlist window.
        package var window: Int64
        /// Bytes of the files that will be made of the recording.
        package var movies: Int64
        /// Number of segments recorded by this worker.
        package var segments: Int

        package init(window: Int64, movies: Int64 = 0, segments: Int = 0) {
            self.window = window
            self.movies = movies
            self.segments = segments
        }
    }

    /// A file system, or the limit of the pipeline, with the kinds of files that count for it.
    private struct Share {
        let purpose: DiskUse.Purpose
        let reading: Reading

        /// Bytes of a limited window in this share; 0 if it contains no live files.
        func window(_ need: Need) -> Int64 { self.purpose.contains(.live) ? need.window : 0 }

        /// Whether the files made of the recording and a limited window still fit. At least a quarter of the capacity
        /// is available to the recording, however large the window is.
        func holds(_ need: Need) -> Bool {
            let window = min(self.window(need), self.reading.capacity / 4 * 3)
            return self.reading.rest &- window >= need.movies
        }

        /// Whether there is enough space for a stopped recording to resume.
        func holdsMore(than need: Need) -> Bool {
            let windows = min(self.window(need), self.reading.capacity / 16 * 7) &* 2
            return self.reading.percent < DiskGuard.criticalClearsBelow && self.reading.rest &- windows >= need.movies
        }
    }

    /// A change that the caller must carry out.
    package enum Action: Sendable, Hashable {
        /// The alarm level has changed from `was`.
        case alarm(Level, was: Level, Reading)
        /// Writing has begun to fail for a reason other than space (true), or works again (false).
        case stalled(Bool, reason: String)
        case limitWindow(Bool)
        case stopRecording(Reading)
        /// There is again enough space for the recording.
        case resumeRecording
    }

    /// A function that was stopped or reduced because space is short.
    package enum Stopped: String, CaseIterable, ReplyValue, Sendable {
        /// The recording is suspended until there is space.
        case recording
        /// The playlist window is limited to few segments.
        case window
        /// No new clips are made.
        case clips
    }

    static let lowPercent = 80
    static let criticalPercent = 95
    private static let lowClearsBelow = 75
    private static let criticalClearsBelow = 80
    /// How long writes may fail before the window is limited, in nanoseconds. Memory holds 64 segments that are not
    /// written; segments last at least 1 s.
    private static let longestStall: Int64 = 45_000_000_000
    /// How long a write that found no space keeps the disk counted as full, whatever is measured, in nanoseconds:
    /// quotas and inodes are not measured.
    private static let refusal: Int64 = 10_000_000_000
    /// Time from a stop of the recording to the next attempt to resume, in nanoseconds. It doubles up to `longestStop`
    /// as long as no attempt records anything, so that a permanent failure is not retried every ten seconds.
    private static let shortestStop: Int64 = 10_000_000_000
    private static let longestStop: Int64 = 600_000_000_000

    /// Limit of the pipeline in bytes; nil if only the disk limits the room.
    let limit: Int64?
    package private(set) var level = Level.normal
    private(set) var last = Reading(used: 0, capacity: 0)
    /// Whether clips are refused. This is decided by the file systems of the live playlists, where segments are held
    /// for clips, and of the clips, and by the limit of the pipeline.
    package private(set) var isFullForClips = false
    /// Whether the file system of the live playlists is full, or the limit of the pipeline is reached.
    private var isShort = false
    private var isLimited = false
    /// Whether the recording and the live playlists are on one file system.
    private var isShared = true
    /// When the recording stopped, or last failed to resume, in nanoseconds; nil while it runs or is being resumed.
    private var recordingStoppedAt: Int64?
    /// Time from a stop of the recording to the next attempt, in nanoseconds.
    private var pause = DiskGuard.shortestStop
    /// Number of recorded segments at the last measurement.
    private var recordedSegments = 0
    /// The reading at which sources' own recordings were suspended; nil if there is space for them.
    package private(set) var fullForSources: Reading?
    /// Until when the disk counts as full because a write found no space, in nanoseconds; nil if it does not.
    private var refusedUntil: Int64?
    /// The file system of the live files at the last measurement.
    private var live: DiskUse.Volume?
    /// The kinds of files on all measured file systems.
    private var purposes: DiskUse.Purpose = []
    /// When writing began to fail for a reason other than space, in nanoseconds; nil if it works.
    private var failsSince: Int64?

    /// What is stopped or reduced now, in the order of ``Stopped``.
    package var stopped: [Stopped] {
        Stopped.allCases.filter { stopped in
            switch stopped {
            case .recording: self.recordingStoppedAt != nil && self.purposes.contains(.recording)
            case .window: self.isLimited
            case .clips: self.isFullForClips && self.purposes.contains(.clips)
            }
        }
    }

    /// The text of the alarm: the directory or the limit, its free space, and what is stopped.
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
        if need.segments != self.recordedSegments {
            (self.recordedSegments, self.pause) = (need.segments, Self.shortestStop)
        }
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
        if let full = full?.reading ?? (isRefused && self.isShared ? fullest : nil) {
            self.fullForSources = self.fullForSources ?? full
        } else if places.allSatisfy({ $0.holdsMore(than: need) }) {
            self.fullForSources = nil
        }
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

    /// Records that a write of the live playlists has failed.
    ///
    /// - Parameter free: Bytes that are free on their file system now, since the last measurement may be old; nil if
    ///   unknown.
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

    /// Records that a write of the live playlists has succeeded.
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

    /// Records that the recording has stopped for any reason, or could not resume.
    package mutating func recordingStopped(at now: Int64) { self.recordingStoppedAt = now }

    /// Records that a new recording session has started; failures of the previous one no longer count.
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
