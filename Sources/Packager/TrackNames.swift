/// The file names of one track. Segment names contain the incarnation (run number) of the worker, so no other worker
/// ever writes other bytes under the same name. Playlist names do not contain it, so they stay the same for the life of
/// the room.
struct TrackNames: Sendable, Hashable {
    let track: String

    /// Ends of the names of playlists, after the track's name.
    static let playlistEnd = ".m3u8"
    static let iFramesEnd = "-iframes.m3u8"

    var playlist: String { self.track + Self.playlistEnd }

    var iFramePlaylist: String { self.track + Self.iFramesEnd }

    func segment(_ mediaSequence: Int64, incarnation: Int64) -> String {
        "\(self.track)-\(incarnation)-\(mediaSequence).m4s"
    }

    /// Returns the name of a part. Of segments and parts, only parts have two dots after the last dash in their names,
    /// so that they never equal the name of another track's segment.
    func part(_ mediaSequence: Int64, index: Int, incarnation: Int64) -> String {
        "\(self.track)-\(incarnation)-\(mediaSequence).\(index).m4s"
    }

    func initialization(incarnation: Int64) -> String { "\(self.track)-\(incarnation).mp4" }

    /// Returns the name of the initialization segment after a configuration change.
    ///
    /// - Parameter change: Number of the change in the worker's run, counted from 1.
    func initialization(incarnation: Int64, change: Int64) -> String { "\(self.track)-\(incarnation)-\(change).mp4" }

    /// Whether a name follows the rules of ``TrackDescription/name``.
    static func isValid(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}
