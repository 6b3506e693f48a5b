package import Events
import MediaTypes
import Packager
package import PipelineSpec
import Recording

/// The state of the room's disk: the ``DiskGuard``, the directories that are measured, and the sizes of the last
/// segments.
package struct DiskState: Sendable {
    /// The state of the disk as the API, the alarm and the event show it.
    package struct Status: NamedReply {
        package static let schemaName = "Disk"

        package var level: DiskGuard.Level
        package var reading: DiskGuard.Reading
        package var stopped: [DiskGuard.Stopped]
        package var message: String

        package static let members: [ReplyMember<Self>] = [
            ReplyMember("level") { $0.level }, ReplyMember("percent") { $0.reading.percent },
            ReplyMember("usedBytes") { $0.reading.used }, ReplyMember("maxBytes") { $0.reading.capacity },
            ReplyMember("path", "a directory on the fullest file system; null: limits.maxDiskBytes") {
                $0.reading.path
            },
            ReplyMember("freeBytes") { $0.reading.free },
            ReplyMember("stopped", "what has been stopped or reduced to save space") { $0.stopped },
            ReplyMember("message") { $0.message },
        ]
    }

    private(set) var places: [DiskUse.Place]
    /// How the names of the sources' recordings begin, by directory. Those of sources that have left the room stay.
    private var recordings: [String: Set<String>]
    private var disk: DiskGuard
    /// Sizes of the last segments in bytes, over all renditions, the newest last.
    private var sizes: [Int64] = []
    /// Whether the thread that measures the disk was started.
    var isStarted = false
    /// Whether the thread that measures the disk must end.
    var isStopped = false

    init(_ pipeline: Pipeline) {
        self.recordings = Self.recordings(of: pipeline)
        self.places = Self.places(of: pipeline, self.recordings)
        self.disk = DiskGuard(limit: pipeline.limits.maxDiskBytes.map(Int64.init))
    }

    /// Measures the directories of a new version of the document from now on.
    mutating func follow(_ pipeline: Pipeline) {
        self.recordings.merge(Self.recordings(of: pipeline)) { $0.union($1) }
        self.places = Self.places(of: pipeline, self.recordings)
    }

    /// How the names of the recordings of a room's sources begin, by directory, which other rooms may share.
    package static func recordings(of pipeline: Pipeline) -> [String: Set<String>] {
        var prefixes: [String: Set<String>] = [:]
        for source in pipeline.sources {
            guard let record = source.record else { continue }
            prefixes[record.directory, default: []].insert(source.id.recordingPrefix(in: pipeline.room.roomID))
        }
        return prefixes
    }

    private static func places(of pipeline: Pipeline, _ recordings: [String: Set<String>]) -> [DiskUse.Place] {
        var places = ([pipeline.hls?.path].compactMap { $0 } + pipeline.transports.map(\.path)).map {
            DiskUse.Place($0, .live)
        }
        if let record = pipeline.record { places.append(DiskUse.Place(record.path, .recording)) }
        for (directory, prefixes) in recordings.sorted(by: { $0.key < $1.key }) {
            var place = DiskUse.Place(directory, .recording)
            place.prefixes = prefixes.sorted()
            places.append(place)
        }
        for directory in pipeline.clipDirectories {
            var place = DiskUse.Place(directory, .clips)
            // Segments that are held for clips are in subdirectories.
            place.isDeep = true
            places.append(place)
        }
        // Stills and thumbnail sheets may be in any directory and are small. They are counted, but nothing is stopped
        // because of a full disk that has only these.
        for image in pipeline.images {
            var place = DiskUse.Place(image.directory, [])
            place.prefixes = [String(image.fileName.dropLast(4))]
            places.append(place)
        }
        return places
    }

    /// The reading at which sources' own recordings were suspended; see ``DiskGuard/fullForSources``.
    var fullForSources: DiskGuard.Reading? { self.disk.fullForSources }

    /// The state of the disk at the last measurement.
    package var current: Status {
        Status(
            level: self.disk.level, reading: self.disk.last, stopped: self.disk.stopped, message: self.disk.message)
    }

    /// Bytes in use and bytes available; nil before the first measurement.
    package var space: (used: Int64, free: Int64)? {
        let reading = self.disk.last
        return reading.capacity > 0 ? (reading.used, reading.free) : nil
    }

    /// Whether clips are refused because the disk is full; see ``DiskGuard/isFullForClips``.
    var isFullForClips: Bool { self.disk.isFullForClips }

    /// Whether writing the live playlists fails for a reason other than space.
    package var isStalled: Bool { self.disk.isStalled }

    /// Evaluates a measurement of the disks, and returns the actions to carry out.
    ///
    /// - Parameter recorded: Amount of media that the room has recorded.
    mutating func measured(_ use: DiskUse, recorded: Recorder.RecordedAmount, at now: Int64) -> [DiskGuard.Action] {
        let need = DiskGuard.Need(
            window: Self.reserve(self.sizes), movies: recorded.movieBytes, segments: recorded.segments)
        return self.disk.measured(use, need: need, at: now)
    }

    /// Records that a segment of the live playlists was written, and returns the actions to carry out.
    mutating func written(_ segment: PublishedSegment, at now: Int64) -> [DiskGuard.Action] {
        self.sizes.append(segment.bytes.values.reduce(0) { $0 &+ Int64($1) })
        if self.sizes.count > HLSPackager.fewestSegments { self.sizes.removeFirst() }
        return self.disk.written(at: now)
    }

    /// Records that a new recording session has started.
    package mutating func recordingBegan() { self.disk.recordingBegan() }

    /// Records that the recording has stopped for any reason, or could not resume.
    mutating func recordingStopped(at now: Int64) { self.disk.recordingStopped(at: now) }

    /// Records that a write of the live playlists has failed, and returns the actions to carry out.
    ///
    /// - Parameter free: Free bytes on the file system of the live output, if the error is that it is full; otherwise
    ///   nil.
    mutating func failed(_ error: MediaError, free: Int64?, at now: Int64) -> [DiskGuard.Action] {
        self.disk.failed(isFull: error.code == .diskFull, reason: error.what, free: free, at: now)
    }

    /// Bytes that a limited window needs, computed from the sizes of the last segments, with a reserve for files that have
    /// left the window and are still served.
    private static func reserve(_ sizes: [Int64]) -> Int64 {
        guard !sizes.isEmpty else { return 0 }
        let mean = sizes.reduce(0, &+) / Int64(sizes.count)
        return mean &* Int64(HLSPackager.fewestSegments + 4)
    }
}
