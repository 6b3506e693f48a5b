/// The file names of one track. Only they know the incarnation: playlists keep their names for the life of the room,
/// while no other worker can ever give other bytes to a segment's name.
struct TrackNames: Sendable, Hashable {
    let track: String

    var playlist: String { "\(self.track).m3u8" }

    var iFramePlaylist: String { "\(self.track)-iframes.m3u8" }

    func segment(_ mediaSequence: Int64, incarnation: Int64) -> String {
        "\(self.track)-\(incarnation)-\(mediaSequence).m4s"
    }

    /// The only names with a dot behind the last dash, so that no other track's name can be the same.
    func part(_ mediaSequence: Int64, index: Int, incarnation: Int64) -> String {
        "\(self.track)-\(incarnation)-\(mediaSequence).\(index).m4s"
    }

    func initialization(incarnation: Int64) -> String { "\(self.track)-\(incarnation).mp4" }

    /// Of a configuration the track changed to in a run, counted from 1.
    func initialization(incarnation: Int64, change: Int64) -> String { "\(self.track)-\(incarnation)-\(change).mp4" }

    /// What ``TrackDescription/name`` promises.
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
