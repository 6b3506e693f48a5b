import HLS
import MediaKernels
import MediaTypes
import Synchronization

/// Settings of one subtitle rendition of an output.
package struct SubtitleSettings: Sendable, Hashable {
    /// Name of the rendition and prefix of its file names; see ``TrackDescription/name``.
    package var name: String
    /// Name for the players' menu.
    package var label: String
    /// Language as a BCP 47 tag.
    package var language: String
    /// Whether players show the rendition if the user has no other preference.
    package var isDefault: Bool

    package init(name: String, label: String, language: String, isDefault: Bool = false) {
        self.name = name
        self.label = label
        self.language = language
        self.isDefault = isDefault
    }
}

/// The cues of an output's subtitle renditions. The writer and the live edge get the same bytes for a segment, whichever
/// needs it first.
final class SubtitleRenditions: Sendable {
    private let cues: Mutex<[String: SubtitleCues]>

    /// - Parameter names: Names of the renditions.
    init(_ names: [String]) {
        var cues: [String: SubtitleCues] = [:]
        for name in names { cues[name] = SubtitleCues() }
        self.cues = Mutex(cues)
    }

    /// Adds cues to a rendition; see ``SubtitleCues/add(_:programTime:now:)``.
    ///
    /// - Returns: `nil` if there is no rendition of that name.
    func add(
        _ new: [SubtitleCue], to name: String, programTime: Int64, now: Int64
    ) throws(SubtitleCues.Refused) -> [SubtitleCue]? {
        try self.cues.withLock { cues throws(SubtitleCues.Refused) -> [SubtitleCue]? in
            try cues[name]?.add(new, programTime: programTime, now: now)
        }
    }

    /// Returns the bytes of a rendition's segment before encryption, and fixes them.
    ///
    /// - Parameter start: Start of the segment in ticks of the duration's timescale since the room's origin.
    func bytes(_ name: String, _ mediaSequence: Int64, start: Int64, duration: MediaDuration) -> [UInt8] {
        let timescale = Int64(duration.timescale)
        func nanoseconds(_ ticks: Int64) -> Int64 {
            TimeMath.rescale(ticks, from: timescale, to: TimeMath.nanoseconds)
        }
        return self.cues.withLock {
            $0[name]?.segment(
                mediaSequence, start: nanoseconds(start), end: nanoseconds(start &+ duration.ticks)) ?? []
        }
    }

    /// Notes that media before a program time in milliseconds comes from an earlier worker.
    func begin(at time: Int64) {
        self.cues.withLock { cues in
            for name in Array(cues.keys) { cues[name]?.begin(at: time) }
        }
    }

    /// Takes over the bytes of a segment that an earlier worker has written, before encryption.
    func keep(_ name: String, _ mediaSequence: Int64, _ bytes: [UInt8]) {
        self.cues.withLock { $0[name]?.keep(mediaSequence, bytes) }
    }
}

/// The published state of one subtitle rendition. Its segments are those of another track, the *reference*: the same
/// numbers, durations, gaps and times of deletion. So only what differs is stored here.
struct SubtitlePublication: Sendable {
    let settings: SubtitleSettings
    /// Number of the first segment with subtitles: earlier ones were listed before the room had the rendition.
    let first: Int64
    /// Numbers of segments whose file the store does not have.
    var lost: Set<Int64> = []
    /// Encryption keys; `nil` if segments are not encrypted.
    let keys: SegmentKeys?

    var name: String { self.settings.name }
    var playlistName: String { TrackNames(track: self.name).playlist }

    /// The file name of the rendition's segment that belongs to a segment of the reference; `nil` if `uri` does not name a
    /// segment, but a part or an initialization segment.
    func segmentName(like uri: String, of reference: String) -> String? {
        Self.segmentName(self.name, like: uri, of: reference)
    }

    static func segmentName(_ name: String, like uri: String, of reference: String) -> String? {
        guard uri.hasPrefix("\(reference)-"), uri.hasSuffix(".m4s") else { return nil }
        let numbers = uri.dropFirst(reference.utf8.count).dropLast(4)
        guard !numbers.utf8.contains(UInt8(ascii: ".")) else { return nil }
        return "\(name)\(numbers)\(Self.fileEnd)"
    }

    /// Whether the rendition has the segment with a media sequence number.
    func has(_ mediaSequence: Int64) -> Bool { mediaSequence >= self.first && !self.lost.contains(mediaSequence) }

    /// The name of the reference's segment to which a segment of this rendition belongs; `nil` for other names.
    func referenceName(like uri: String, of reference: String) -> String? {
        Self.referenceName(self.name, like: uri, of: reference)
    }

    static func referenceName(_ name: String, like uri: String, of reference: String) -> String? {
        guard uri.hasPrefix("\(name)-"), uri.hasSuffix(Self.fileEnd) else { return nil }
        return "\(reference)\(uri.dropFirst(name.utf8.count).dropLast(Self.fileEnd.utf8.count)).m4s"
    }

    /// End of the names of segments.
    static let fileEnd = ".vtt"

    /// Makes the rendition's playlist from that of the reference.
    func playlist(like playlist: MediaPlaylist, of reference: String) -> MediaPlaylist {
        MediaPlaylist(subtitlesLike: playlist, from: self.first) { segment in
            let uri = self.segmentName(like: segment.uri, of: reference)
            return (
                uri ?? segment.uri, self.keys?.segmentKey(of: segment.mediaSequence, track: self.name),
                uri == nil || !self.has(segment.mediaSequence)
            )
        }
    }

    /// Encrypts a segment, if the room is encrypted.
    func sealed(_ bytes: [UInt8], of mediaSequence: Int64) -> PacketMemory {
        let memory = PacketMemory(bytes)
        return self.keys?.sealed([memory], of: mediaSequence, track: self.name) ?? memory
    }

    /// Decrypts a segment; `nil` if it is damaged.
    func opened(_ bytes: [UInt8], of mediaSequence: Int64) -> [UInt8]? {
        guard let keys = self.keys else { return bytes }
        return keys.opened(bytes, of: mediaSequence, track: self.name)
    }
}
