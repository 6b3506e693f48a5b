import HLS
package import MediaTypes

/// The JSON file beside each file of a source's recording.
package struct SourceSidecar: Sendable, Hashable {
    /// Which source and publication the file belongs to.
    package struct Origin: Sendable, Hashable {
        package let roomID: String
        package let source: SourceID
        /// Identifies the publication among those of the source: when its recording began, `YYYYMMDDThhmmssSSSZ`.
        package let publicationID: String

        package init(roomID: String, source: SourceID, publicationID: String) {
            (self.roomID, self.source, self.publicationID) = (roomID, source, publicationID)
        }
    }

    /// A moment in program time and wall-clock time.
    package struct Moment: Sendable, Hashable {
        /// Nanoseconds of program time at which the room shows the frame; nil if the program had not begun.
        package var program: Int64?
        /// When the frame arrived, in nanoseconds since the Unix epoch.
        package var arrival: Int64

        package init(program: Int64?, arrival: Int64) { (self.program, self.arrival) = (program, arrival) }

        var json: JSONValue {
            let program = self.program.map { TimeMath.scale($0, by: 1, over: 1_000, rounding: .nearest) }
            // Microseconds, written as milliseconds with three decimals.
            return [
                "programMs": program.map { .thousandths($0) } ?? .null,
                "date": .string(ProgramDate.format(self.arrival)),
            ]
        }
    }

    /// Version of the format.
    static let version: Int64 = 1

    package var origin: Origin
    /// Name of the MP4 file.
    package var file: String
    package var facts: SourceMovieFacts
    package var start: Moment
    /// nil while the file is being written.
    package var end: Moment?
    package var reason: SourceMovieFacts.End?
    /// Size of the finished file in bytes.
    package var byteCount: Int64?

    package init(origin: Origin, file: String, facts: SourceMovieFacts, start: Moment) {
        (self.origin, self.file, self.facts, self.start) = (origin, file, facts, start)
    }

    package var json: JSONValue {
        let facts = self.facts
        func milliseconds(_ time: Int64) -> JSONValue { .integer(TimeMath.scale(time, by: 1, over: 1_000_000)) }
        let tracks: [JSONValue] = facts.tracks.map { track -> JSONValue in
            [
                "kind": .string(track.kind.rawValue), "track": JSONValue(Int(track.number)),
                "codec": .string(track.codec), "timescale": .integer(track.timescale),
                "width": track.kind == .video ? JSONValue(track.width) : .null,
                "height": track.kind == .video ? JSONValue(track.height) : .null,
                "frames": JSONValue(track.frames), "keyFrames": JSONValue(track.keyFrames),
                "bytes": .integer(track.bytes),
            ]
        }
        let skipped: [JSONValue] = facts.skipped.map { track -> JSONValue in
            [
                "kind": .string(track.kind.rawValue), "track": JSONValue(Int(track.track)),
                "codec": .string(track.codec.rawValue), "reason": .string(track.reason),
            ]
        }
        let gaps: [JSONValue] = facts.gaps.map { gap -> JSONValue in
            [
                "kind": .string(gap.kind.rawValue), "track": JSONValue(Int(gap.track)),
                "startMs": milliseconds(gap.start &- facts.zero), "durationMs": milliseconds(gap.duration),
            ]
        }
        return [
            "version": .integer(Self.version), "roomId": .string(self.origin.roomID),
            "uid": .string(self.origin.source.uid), "streamType": .string(self.origin.source.streamType.rawValue),
            "publicationId": .string(self.origin.publicationID), "part": JSONValue(facts.part),
            "file": .string(self.file), "state": self.reason == nil ? "recording" : "finished",
            "start": self.start.json, "end": self.end?.json ?? .null, "reason": JSONValue(self.reason?.rawValue),
            "durationMs": milliseconds(facts.duration), "bytes": self.byteCount.map { .integer($0) } ?? .null,
            "tracks": .array(tracks), "notRecorded": .array(skipped), "gaps": .array(gaps),
            "dropped": ["video": JSONValue(facts.droppedVideo), "audio": JSONValue(facts.droppedAudio)],
            "beforeKeyFrame": JSONValue(facts.beforeKeyFrame), "lost": JSONValue(facts.lost),
        ]
    }

    /// Completes the sidecar of a killed worker with what its file contains.
    ///
    /// - Parameters:
    ///   - text: The sidecar's content.
    ///   - size: Size of the completed file in bytes.
    /// - Returns: The new content; nil if the sidecar cannot be read, is of another source, or is already complete.
    package static func completed(
        _ text: [UInt8], of source: SourceID, in roomID: String, _ scan: SourceMovieScan, size: Int64
    ) -> JSONValue? {
        guard let node = JSONParser.parse(text).root, self.isOpen(node, of: source, in: roomID),
            case .object(let members) = node.value
        else { return nil }
        let duration = TimeMath.scale(scan.duration, by: 1, over: 1_000_000)
        let start = node[key: "start"]
        let program = Self.number(start?[key: "programMs"]).map { $0 + Double(duration) }
        let date = start?[key: "date"]?.string.flatMap { ProgramDate.parse($0) }
        let changed: [String: JSONValue] = [
            "state": "finished", "reason": .string(SourceMovieFacts.End.workerKilled.rawValue),
            "durationMs": .integer(duration), "bytes": .integer(size),
            "end": [
                "programMs": program.map { .number($0) } ?? .null,
                "date": JSONValue(date.map { ProgramDate.format($0 &+ scan.duration) }),
            ],
        ]
        return .object(
            members.map { member in
                var member = member
                if let value = changed[member.name] { member.value = value }
                if member.name == "tracks", case .array(let tracks) = member.value {
                    member.value = .array(zip(tracks, scan.tracks).map { Self.counted($0, $1) })
                }
                return member
            })
    }

    /// Whether a sidecar belongs to a file of the source that was not completed.
    package static func isOpen(_ node: JSONNode, of source: SourceID, in roomID: String) -> Bool {
        node[key: "state"]?.string == "recording" && node[key: "roomId"]?.string == roomID
            && node[key: "uid"]?.string == source.uid
            && node[key: "streamType"]?.string == source.streamType.rawValue
    }

    private static func number(_ node: JSONNode?) -> Double? {
        switch node?.content {
        case .integer(let number)?: Double(number)
        case .number(let number)?: number
        default: nil
        }
    }

    private static func counted(_ track: JSONValue, _ scan: SourceMovieScan.Track) -> JSONValue {
        guard case .object(var members) = track else { return track }
        let counts: [String: JSONValue] = [
            "frames": JSONValue(scan.frames), "keyFrames": JSONValue(scan.keyFrames), "bytes": .integer(scan.bytes),
        ]
        for index in members.indices { members[index].value = counts[members[index].name] ?? members[index].value }
        return .object(members)
    }
}
