import MediaTypes

/// The attribute list of a playlist tag. Spec: rfc8216bis §4.2.
struct AttributeList: Sendable, Hashable {
    struct Value: Sendable, Hashable {
        let text: String
        let isQuoted: Bool
    }

    private(set) var members: [String: Value] = [:]
    private(set) var faults: [PlaylistFault] = []

    /// Parses an attribute list. After an error it continues as far as possible and adds the error to ``faults``.
    init(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        var position = 0
        while position < bytes.count {
            guard let equals = bytes[position...].firstIndex(of: 0x3D) else {
                self.fault("no = after \(Self.string(bytes[position...]))")
                return
            }
            let name = Self.string(bytes[position..<equals])
            let isName =
                !name.isEmpty
                && name.utf8.allSatisfy {
                    (0x41...0x5A).contains($0) || $0.isDigit || $0 == 0x2D
                }
            if !isName { self.fault("\"\(name)\" is not an attribute name") }
            position = equals + 1
            let value: Value
            if position < bytes.count, bytes[position] == 0x22 {
                guard let end = bytes[(position + 1)...].firstIndex(of: 0x22) else {
                    self.fault("\(name) has no closing quote")
                    return
                }
                value = Value(text: Self.string(bytes[(position + 1)..<end]), isQuoted: true)
                position = end + 1
            } else {
                let end = bytes[position...].firstIndex(of: 0x2C) ?? bytes.count
                value = Value(text: Self.string(bytes[position..<end]), isQuoted: false)
                if value.text.contains(" ") || value.text.contains("\"") {
                    self.fault("\(name) has a space or a quote")
                }
                position = end
            }
            if value.text.isEmpty { self.fault("\(name) is empty") }
            if self.members.updateValue(value, forKey: name) != nil {
                self.faults.append(PlaylistFault(.attributeRepeated, "\(name) is given twice"))
            }
            guard position < bytes.count else { return }
            guard bytes[position] == 0x2C, position + 1 < bytes.count else {
                self.fault("something other than a comma and an attribute follows \(name)")
                return
            }
            position += 1
        }
    }

    private mutating func fault(_ what: String) { self.faults.append(PlaylistFault(.attributeSyntax, what)) }

    private static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the value of a quoted string; `nil` if the attribute is missing or not quoted.
    func quoted(_ name: String) -> String? { self.members[name].flatMap { $0.isQuoted ? $0.text : nil } }
    /// Returns a value without quotes, such as an enumerated string; `nil` if the attribute is missing or quoted.
    func plain(_ name: String) -> String? { self.members[name].flatMap { $0.isQuoted ? nil : $0.text } }
    func integer(_ name: String) -> Int64? { self.plain(name).flatMap { PlaylistScalars.integer($0) } }
    /// Returns a decimal value times 10^9, such as seconds as nanoseconds; `nil` if the attribute is missing or
    /// invalid.
    func nanoseconds(_ name: String) -> Int64? { self.plain(name).flatMap { PlaylistScalars.nanoseconds($0) } }
    func isYes(_ name: String) -> Bool { self.plain(name) == "YES" }
    /// Returns the width and height of a `WIDTHxHEIGHT` value; `nil` if the attribute is missing or invalid.
    func resolution(_ name: String) -> (width: Int64, height: Int64)? {
        guard let pieces = self.plain(name)?.split(separator: "x"), pieces.count == 2,
            let width = PlaylistScalars.integer(pieces[0]), let height = PlaylistScalars.integer(pieces[1])
        else { return nil }
        return (width, height)
    }
}

/// An error in the text of a playlist, in an initialization segment, or in a segment or part.
struct PlaylistFault: Sendable, Hashable {
    let rule: Rule
    let what: String
    var segment: Int64?

    init(_ rule: Rule, _ what: String, segment: Int64? = nil) {
        self.rule = rule
        self.what = what
        self.segment = segment
    }
}
