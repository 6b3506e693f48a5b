package import MediaTypes

/// The Enhanced RTMP features that one side of a connection announces. Only the payload is decisive: some encoders send
/// Enhanced RTMP and announce nothing.
///
/// Spec: Enhanced RTMP v2, "Enhancing NetConnection connect Command" (`fourCcList`, `videoFourCcInfoMap`,
/// `audioFourCcInfoMap`, `capsEx`).
package struct EnhancedCapabilities: Sendable, Hashable {
    /// `capsEx`: supported features apart from codecs.
    package struct Extensions: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let reconnect = Extensions(rawValue: 1)
        package static let multitrack = Extensions(rawValue: 2)
        package static let modifiers = Extensions(rawValue: 4)
        package static let nanoseconds = Extensions(rawValue: 8)
    }

    package var extensions: Extensions = []
    /// The announced codecs that the worker knows.
    package var codecs: Set<CodecName> = []
    /// True if the peer announced any Enhanced RTMP feature.
    package var isSpoken = false
    /// True if the peer announced `*`: it accepts any codec.
    package var takesAnyCodec = false

    /// Creates capabilities without any announced feature.
    package init() {}

    package init(codecs: Set<CodecName>, extensions: Extensions) {
        self.codecs = codecs
        self.extensions = extensions
        self.isSpoken = true
    }

    /// Maximum number of entries that are read of one list or map.
    private static let limit = 64

    /// Reads the object of a `connect` command or of its answer.
    package init(_ object: AMF0Value?) {
        guard let object else { return }
        if case .strictArray(let list)? = object["fourCcList"] {
            self.isSpoken = true
            for letters in list.prefix(Self.limit).compactMap(\.string) { self.add(letters) }
        }
        for name in ["videoFourCcInfoMap", "audioFourCcInfoMap"] {
            guard let map = object[name]?.properties else { continue }
            self.isSpoken = true
            for entry in map.prefix(Self.limit) { self.add(entry.name) }
        }
        if let number = object["capsEx"]?.number, let bits = UInt32(exactly: number) {
            self.isSpoken = true
            self.extensions = Extensions(rawValue: Int(bits))
        }
    }

    private mutating func add(_ letters: String) {
        if letters == "*" { self.takesAnyCodec = true }
        if letters.utf8.count == 4, let codec = FourCC(letters).codec { self.codecs.insert(codec) }
    }

    /// The properties for a `connect` command or its answer.
    ///
    /// - Parameter use: 1 decode, 2 encode, 4 forward.
    package func properties(use: Int) -> [AMF0Property] {
        let named = self.codecs.compactMap { codec in FourCC(codec).map { (codec, $0.description) } }
            .sorted { $0.1 < $1.1 }
        func map(_ kind: TrackKind) -> AMF0Value {
            .object(
                named.filter { CodecParameters(codec: $0.0, configuration: []).kind == kind }
                    .map { AMF0Property($0.1, .number(Double(use))) })
        }
        return [
            AMF0Property("capsEx", .number(Double(self.extensions.rawValue))),
            AMF0Property("fourCcList", .strictArray(named.map { .string($0.1) })),
            AMF0Property("videoFourCcInfoMap", map(.video)), AMF0Property("audioFourCcInfoMap", map(.audio)),
        ]
    }
}
