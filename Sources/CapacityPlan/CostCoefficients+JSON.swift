package import MediaTypes
import PipelineSpec

/// Reads and writes the file with the coefficients measured by `tandem plan --calibrate`.
extension CostCoefficients {
    /// Version of the file format; files with another version are rejected.
    package static let fileVersion: Int64 = 1

    private static let numbers: [(key: String, path: WritableKeyPath<CostCoefficients, Int64> & Sendable)] = [
        ("decodePerMegapixel", \.decodePerMegapixel), ("decodePerMegabit", \.decodePerMegabit),
        ("scalePerMegapixel", \.scalePerMegapixel), ("composePerMegapixel", \.composePerMegapixel),
        ("encodePerMegabit", \.encodePerMegabit), ("soundPerSecond", \.audioPerSecond),
        ("aacPerSecond", \.aacPerSecond), ("roomPerSecond", \.roomPerSecond),
        ("networkPerMegabit", \.networkPerMegabit),
    ]

    /// Plausible cost of one unit in nanoseconds; other values are rejected.
    private static let plausible: ClosedRange<Int64> = 0...100_000_000_000

    /// The text of the calibration file, with a final line break.
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

    /// Maximum length in characters of the name of the machine on which the coefficients were measured. `tandem
    /// manifest` writes the name into a comment of each file that it generates.
    private static let longestName = 200

    /// Reads a calibration file. Presets that it does not contain keep the cost of ``reference``.
    ///
    /// - Throws: ``MediaError/Code/invalidData`` with the name of the member as its location, if the file is invalid,
    ///   has another version, or contains implausible values.
    package init(json bytes: [UInt8]) throws(MediaError) {
        guard let root = JSONParser.parse(bytes).root else { throw Self.mistake("file", "is not JSON") }
        guard root[key: "version"]?.integer == Self.fileVersion else {
            throw Self.mistake("version", "is not \(Self.fileVersion)")
        }
        guard let machine = root[key: "machine"]?.string, machine.unicodeScalars.count <= Self.longestName,
            machine.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) })
        else { throw Self.mistake("machine", "is not one line of at most \(Self.longestName) characters") }
        var read = Self.reference
        read.machine = machine
        for (key, path) in Self.numbers { read[keyPath: path] = try Self.number(root[key: key], key) }
        for preset in VideoEncoding.Preset.allCases {
            guard let node = root[key: "encodePerMegapixel"]?[key: preset.rawValue] else { continue }
            read.encodePerMegapixel[preset] = try Self.number(node, "encodePerMegapixel.\(preset.rawValue)")
        }
        self = read
    }

    private static func number(_ node: JSONNode?, _ place: String) throws(MediaError) -> Int64 {
        guard let number = node?.integer else { throw self.mistake(place, "is not an integer") }
        guard self.plausible.contains(number) else {
            throw self.mistake(
                place,
                "is \(number); a unit costs \(self.plausible.lowerBound) to \(self.plausible.upperBound) nanoseconds")
        }
        return number
    }

    private static func mistake(_ place: String, _ what: String) -> MediaError {
        MediaError(.invalidData, what, at: place, fix: "measure again: tandem plan --calibrate")
    }
}
