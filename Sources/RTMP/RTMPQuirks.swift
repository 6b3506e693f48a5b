/// Tolerated deviations of a peer from the specification, for statistics and support.
package struct RTMPQuirks: OptionSet, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Type 1 as the first header of a chunk stream (librtmp).
    package static let deltaOnFreshChunkStream = RTMPQuirks(rawValue: 1 << 0)
    /// No extended timestamp after type 3 headers (OBS before 30.1, plain rtmpdump).
    package static let extendedTimestampOmitted = RTMPQuirks(rawValue: 1 << 1)
    /// Control messages on other streams than chunk stream 2 and message stream 0 (PTZOptics).
    package static let controlOffStream = RTMPQuirks(rawValue: 1 << 2)
    /// Control messages with a wrong length.
    package static let controlLength = RTMPQuirks(rawValue: 1 << 3)
    /// Messages with an undefined type.
    package static let unknownMessageType = RTMPQuirks(rawValue: 1 << 4)
    /// A command or metadata whose AMF cannot be parsed to its end.
    package static let malformedAMF = RTMPQuirks(rawValue: 1 << 5)
    /// The peer sends media when it has no accepted publication, or data or commands while its `publish` is undecided.
    package static let impatientMedia = RTMPQuirks(rawValue: 1 << 6)
    /// The peer sends `publish` without `createStream`.
    package static let publishWithoutCreateStream = RTMPQuirks(rawValue: 1 << 7)

    private static let names = [
        "deltaOnFreshChunkStream", "extendedTimestampOmitted", "controlOffStream", "controlLength",
        "unknownMessageType", "malformedAMF", "impatientMedia", "publishWithoutCreateStream",
    ]

    package var description: String {
        let set = RTMPQuirks.names.enumerated().filter { self.rawValue >> UInt32($0.offset) & 1 == 1 }
        return set.map(\.element).joined(separator: ",")
    }
}
