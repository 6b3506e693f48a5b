import PipelineSpec

/// The file a calibration leaves behind.
extension CostCoefficients {
    /// Its only version.
    package static let fileVersion: Int64 = 1

    private static let numbers: [(key: String, path: WritableKeyPath<CostCoefficients, Int64> & Sendable)] = [
        ("decodePerMegapixel", \.decodePerMegapixel), ("decodePerMegabit", \.decodePerMegabit),
        ("scalePerMegapixel", \.scalePerMegapixel), ("composePerMegapixel", \.composePerMegapixel),
        ("encodePerMegabit", \.encodePerMegabit), ("soundPerSecond", \.soundPerSecond),
        ("aacPerSecond", \.aacPerSecond), ("roomPerSecond", \.roomPerSecond),
        ("networkPerMegabit", \.networkPerMegabit),
    ]

    /// Nanoseconds a unit of anything may cost: what is more is no measurement.
    private static let plausible: ClosedRange<Int64> = 0...100_000_000_000

    /// As text that ends in a line break.
    package var json: String {
        var members = [
            JSONMember("version", .integer(Int(Self.fileVersion))), JSONMember("machine", .string(self.machine)),
        ]
        for (key, path) in Self.numbers { members.append(JSONMember(key, JSONNode(.integer(self[keyPath: path])))) }
        let presets = VideoEncoding.Preset.allCases.compactMap { preset in
            self.encodePerMegapixel[preset].map { JSONMember(preset.rawValue, JSONNode(.integer($0))) }
        }
        members.append(JSONMember("encodePerMegapixel", .object(presets)))
        return JSONNode.object(members).text(pretty: true) + "\n"
    }

    /// Reads such a file; `nil` when it is none, of another version, or holds a number that cannot be true.
    package init?(json bytes: [UInt8]) {
        guard let root = JSONParser.parse(bytes).root, root[key: "version"]?.integer == Self.fileVersion,
            let machine = root[key: "machine"]?.string
        else { return nil }
        var read = Self.reference
        read.machine = machine
        for (key, path) in Self.numbers {
            guard let number = root[key: key]?.integer, Self.plausible.contains(number) else { return nil }
            read[keyPath: path] = number
        }
        for preset in VideoEncoding.Preset.allCases {
            guard let node = root[key: "encodePerMegapixel"]?[key: preset.rawValue] else { continue }
            guard let number = node.integer, Self.plausible.contains(number) else { return nil }
            read.encodePerMegapixel[preset] = number
        }
        self = read
    }
}
