import MediaTypes

/// Meaning of a list of attributes.
///
/// Attributes are found by name, never by position: Firefox writes `fmtp` before `rtpmap`. If an attribute that may occur
/// once is repeated, the first counts.
extension [SessionDescription.Attribute] {
    func first(named name: String) -> Substring? { self.first { $0.name == name }.map { $0.value[...] } }

    func all(named name: String) -> [Substring] { self.filter { $0.name == name }.map { $0.value[...] } }

    func has(_ name: String) -> Bool { self.contains { $0.name == name } }

    /// The first direction attribute (RFC 8866 §6.7); nil if there is none.
    var direction: MediaDirection? { self.lazy.compactMap { MediaDirection(rawValue: $0.name) }.first }

    /// Splits values such as `96 rest` at the first space.
    ///
    /// - Returns: Payload types with their rest, the first one of a payload type only.
    func byPayloadType(named name: String) -> [UInt8: Substring] {
        var found: [UInt8: Substring] = [:]
        for value in self.all(named: name) {
            guard let space = value.firstIndex(of: " "), let type = RTPMap.payloadType(value[..<space]) else {
                continue
            }
            if found[type] == nil { found[type] = value[value.index(after: space)...] }
        }
        return found
    }

    /// Feedback messages that the sender understands for a payload type, including those for all (`*`).
    ///
    /// Spec: RFC 4585 §4.2.
    func feedback(_ payloadType: UInt8) -> Set<String> {
        var found: Set<String> = []
        for value in self.all(named: "rtcp-fb") {
            guard let space = value.firstIndex(of: " ") else { continue }
            let type = value[..<space]
            guard type == "*" || RTPMap.payloadType(type) == payloadType else { continue }
            found.insert(value[space...].split(separator: " ").joined(separator: " ").lowercased())
        }
        return found
    }

    /// Ids of RTP header extensions that the offerer sends, by URI.
    ///
    /// Spec: RFC 8285 §5, §8. Id 15 is reserved and ids from 256 are for later negotiation; they are ignored.
    var extensions: [Substring: UInt8] {
        var found: [Substring: UInt8] = [:]
        for value in self.all(named: "extmap") {
            let words = value.split(separator: " ")
            guard words.count >= 2 else { continue }
            let parts = words[0].split(separator: "/", omittingEmptySubsequences: false)
            guard let id = parts.first.flatMap({ $0.isDigits ? UInt8($0) : nil }), id >= 1, id != 15 else { continue }
            if parts.count > 1, parts[1] == "recvonly" || parts[1] == "inactive" { continue }
            if found[words[1]] == nil, !found.values.contains(id) { found[words[1]] = id }
        }
        return found
    }

    /// Synchronization sources in the order of the offer, at most 16.
    ///
    /// Spec: RFC 5576 §4.1.
    var ssrcs: [UInt32] {
        var found: [UInt32] = []
        for value in self.all(named: "ssrc") where found.count < 16 {
            let word = value.prefix { $0 != " " }
            guard word.isDigits, let number = UInt32(word), !found.contains(number) else { continue }
            found.append(number)
        }
        return found
    }
}

/// The direction of a media section, as its sender sees it.
package enum MediaDirection: String, Sendable, Hashable {
    case sendrecv, sendonly, recvonly, inactive
}

/// Encoding name, clock rate and channels of a payload type.
///
/// Spec: RFC 8866 §6.6.
struct RTPMap {
    /// Encoding name in lower case: encoding names are case-insensitive.
    var encoding: String
    /// Encoding name as offered, for messages.
    var spelling: String
    var clockRate: Int
    /// Number of audio channels; 1 if the offer gives none.
    var channels: Int

    /// Parses a value such as `opus/48000/2`; nil if it is malformed.
    init?(_ value: Substring) {
        let parts = value.split(separator: " ").first?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        guard (2...3).contains(parts.count), !parts[0].isEmpty, parts[1].isDigits, let rate = Int(parts[1]) else {
            return nil
        }
        (self.spelling, self.encoding, self.clockRate) = (String(parts[0]), parts[0].lowercased(), rate)
        guard parts.count == 3 else {
            self.channels = 1
            return
        }
        guard parts[2].isDigits, let channels = Int(parts[2]) else { return nil }
        self.channels = channels
    }

    /// Parses a payload type of at most 7 bits.
    static func payloadType(_ word: some StringProtocol) -> UInt8? {
        guard word.isDigits, let number = UInt8(word), number < 128 else { return nil }
        return number
    }

    /// Whether a payload type can share a port with RTCP: 64 to 95 would look like RTCP packets (RFC 5761 §4).
    static func isUsable(_ payloadType: UInt8) -> Bool { !(64...95).contains(payloadType) }
}

/// Format parameters: `name=value;name=value`.
enum FormatParameters {
    /// - Returns: Names in lower case. The first value of a name counts; a word without `=` is a name with an empty value.
    static func parse(_ text: Substring) -> [String: String] {
        var found: [String: String] = [:]
        for item in text.split(separator: ";") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.trimmed(parts[0]).lowercased()
            guard !name.isEmpty, found[name] == nil else { continue }
            found[name] = parts.count > 1 ? String(Self.trimmed(parts[1])) : ""
        }
        return found
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
