/// Reads a whole JSON text strictly; a damaged one gives `nil`.
struct JSONReader {
    /// The state file nests five levels; more is damage, and must not exhaust the stack.
    private static let deepest = 12

    private let bytes: [UInt8]
    private var position = 0

    static func read(_ bytes: [UInt8]) -> JSONValue? {
        var reader = JSONReader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        return reader.position == bytes.count ? value : nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private mutating func skipSpace() {
        while let byte = self.next, [0x20, 0x0A, 0x0D, 0x09].contains(byte) { self.position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        self.skipSpace()
        guard self.next == UInt8(ascii: character) else { return false }
        self.position += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard self.bytes[self.position...].starts(with: word.utf8) else { return false }
        self.position += word.utf8.count
        return true
    }

    private mutating func value(depth: Int) -> JSONValue? {
        guard depth <= Self.deepest else { return nil }
        self.skipSpace()
        switch self.next {
        case UInt8(ascii: "{"): return self.object(depth: depth)
        case UInt8(ascii: "["): return self.array(depth: depth)
        case UInt8(ascii: "\""): return self.string().map(JSONValue.string)
        case UInt8(ascii: "t"): return self.take(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return self.take(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return self.take(word: "null") ? .null : nil
        default: return self.integer()
        }
    }

    private mutating func object(depth: Int) -> JSONValue? {
        guard self.take("{") else { return nil }
        var members: [String: JSONValue] = [:]
        if self.take("}") { return .object(members) }
        repeat {
            self.skipSpace()
            guard let key = self.string(), members[key] == nil, self.take(":"), let value = self.value(depth: depth + 1)
            else { return nil }
            members[key] = value
        } while self.take(",")
        return self.take("}") ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> JSONValue? {
        guard self.take("[") else { return nil }
        var elements: [JSONValue] = []
        if self.take("]") { return .array(elements) }
        repeat {
            guard let value = self.value(depth: depth + 1) else { return nil }
            elements.append(value)
        } while self.take(",")
        return self.take("]") ? .array(elements) : nil
    }

    private mutating func integer() -> JSONValue? {
        let start = self.position
        if self.next == UInt8(ascii: "-") { self.position += 1 }
        let digits = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { self.position += 1 }
        let count = self.position - digits
        guard count > 0, count == 1 || self.bytes[digits] != UInt8(ascii: "0") else { return nil }
        return Int64(String(decoding: self.bytes[start..<self.position], as: UTF8.self)).map(JSONValue.integer)
    }

    /// A string without escapes but `\"`, `\\` and `\/`: what is written here is ASCII file names.
    private mutating func string() -> String? {
        guard self.take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = self.next {
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = self.next, [0x22, 0x5C, 0x2F].contains(escaped) else { return nil }
                text.append(escaped)
                self.position += 1
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }
}
