package import LibAV
package import Threading

/// The decoded animations of a room, bounded in bytes. A value without threads or clocks: the times are program time in
/// nanoseconds and are passed in.
///
/// An animation is recorded while it is played for the first time: ``begin(_:)``, ``grow(_:by:now:)`` for each part, and
/// ``finish(_:_:until:)`` or ``cancel(_:)``. If there is no space, those that were played least recently are removed, but
/// none that is being played or recorded.
///
/// Invariant: ``bytes`` is the sum over all entries, at most the limit.
package struct AnimationCache: Sendable {
    /// What decides the decoded frames and audio.
    package struct Key: Sendable, Hashable {
        package var path: String
        package var version: FileVersion
        package var alpha: AnimationAlpha
        /// Size of the rectangle that the frames are fitted into.
        package var width: Int
        package var height: Int
        /// Whether the audio is decoded.
        package var hasAudio: Bool

        package init(
            path: String, version: FileVersion, alpha: AnimationAlpha, width: Int, height: Int, hasAudio: Bool
        ) {
            self.path = path
            self.version = version
            self.alpha = alpha
            self.width = width
            self.height = height
            self.hasAudio = hasAudio
        }
    }

    /// Default of the largest number of bytes of all animations together.
    package static let usualLimit = 64 << 20
    /// How long an animation is kept after its last play, in nanoseconds.
    package static let keptFor: Int64 = 60_000_000_000
    /// Largest number of remembered animations that are too large.
    private static let mostTooLarge = 64

    private struct Entry {
        /// `nil` while it is recorded.
        var animation: RecordedAnimation?
        var bytes = 0
        /// When its last play ends.
        var until = Int64.max
    }

    private var entries: [Key: Entry] = [:]
    /// Animations that alone are larger than the limit. Another attempt would only remove others.
    private var tooLarge: Set<Key> = []
    private var limit: Int
    /// Number of bytes that the animations need, those included that are being recorded.
    package private(set) var bytes = 0

    /// - Parameter limit: Largest number of bytes; 0: nothing is recorded.
    package init(limit: Int = Self.usualLimit) { self.limit = max(0, limit) }

    package var isEmpty: Bool { self.entries.isEmpty }

    /// Returns an animation for a play.
    ///
    /// - Parameter until: Returns when that play ends.
    package mutating func find(_ key: Key, until: (RecordedAnimation) -> Int64) -> RecordedAnimation? {
        guard let entry = self.entries[key], let animation = entry.animation else { return nil }
        self.entries[key]?.until = max(entry.until, until(animation))
        return animation
    }

    /// Begins to record an animation.
    ///
    /// - Returns: `false` if it is not to be recorded: it is in the cache, being recorded, or known to be too large.
    package mutating func begin(_ key: Key) -> Bool {
        guard self.limit > 0, self.entries[key] == nil, !self.tooLarge.contains(key) else { return false }
        self.entries[key] = Entry()
        return true
    }

    /// Reserves space for a part of an animation that is being recorded.
    ///
    /// - Returns: `false` if there is none: the recording is then cancelled.
    package mutating func grow(_ key: Key, by bytes: Int, now: Int64) -> Bool {
        guard let entry = self.entries[key], entry.animation == nil, bytes >= 0 else { return false }
        guard bytes <= self.limit, entry.bytes <= self.limit - bytes else {
            if self.tooLarge.count >= Self.mostTooLarge { self.tooLarge = [] }
            self.tooLarge.insert(key)
            self.cancel(key)
            return false
        }
        while self.bytes > self.limit - bytes {
            let unused = self.entries.filter { $0.value.animation != nil && $0.value.until <= now }
            guard let oldest = unused.min(by: { $0.value.until < $1.value.until }) else {
                self.cancel(key)
                return false
            }
            self.remove(oldest.key)
        }
        self.entries[key]?.bytes += bytes
        self.bytes += bytes
        return true
    }

    /// Adds an animation whose recording is complete.
    ///
    /// - Parameter until: When the play ends that it was recorded in.
    package mutating func finish(_ key: Key, _ animation: RecordedAnimation, until: Int64) {
        guard let entry = self.entries[key], entry.animation == nil else { return }
        self.entries[key]?.animation = animation
        self.entries[key]?.until = until
    }

    /// Removes an animation whose recording was not completed.
    package mutating func cancel(_ key: Key) {
        guard let entry = self.entries[key], entry.animation == nil else { return }
        self.remove(key)
    }

    private mutating func remove(_ key: Key) {
        guard let entry = self.entries.removeValue(forKey: key) else { return }
        self.bytes -= entry.bytes
    }

    /// Removes the animations that were not played for ``keptFor``, and those whose path is not in `paths`.
    package mutating func clean(now: Int64, paths: Set<String>) {
        for (key, entry) in self.entries {
            let isOld = entry.animation != nil && now &- entry.until >= Self.keptFor
            if isOld || !paths.contains(key.path) { self.remove(key) }
        }
    }

    /// Removes everything; nothing is recorded any more.
    package mutating func close() {
        self.entries = [:]
        self.tooLarge = []
        (self.bytes, self.limit) = (0, 0)
    }
}
